/** Makes individual memory allocations fail, as if the system had run out of memory. */

const constructors = [
  ...['ArrayBuffer', 'Uint8Array', 'Uint16Array', 'Uint32Array', 'Int32Array', 'Float64Array'],
  ...['DataView', 'Array', 'Map', 'Set'],
]
const functions = ['alloc', 'allocUnsafe', 'allocUnsafeSlow', 'from', 'concat']

/** Returns the number of bytes that a call allocates; 0 if it only makes a view of a buffer. */
function sizeOf([given]: readonly unknown[], elementBytes = 1): number {
  if (typeof given === 'number') return given * elementBytes
  if (typeof given === 'string') return given.length
  if (Array.isArray(given)) return given.reduce((sum, each) => sum + (each?.length ?? 1), 0)
  return ArrayBuffer.isView(given) ? given.byteLength : 0
}

export class Allocations {
  readonly failures = new Set<string>()
  readonly #minimum: number
  #left = Number.POSITIVE_INFINITY
  readonly #originals: (() => void)[] = []

  /** @param minimum size in bytes. Smaller allocations are ignored: they never fail. */
  constructor(minimum = 0) {
    this.#minimum = minimum
    for (const name of constructors) {
      this.#replace(globalThis, name, {
        construct: (target, values, newTarget) => {
          this.#count(name, sizeOf(values, Reflect.get(target, 'BYTES_PER_ELEMENT')))
          const isOwn = newTarget === Reflect.get(globalThis, name)
          return Reflect.construct(target, values, isOwn ? target : newTarget)
        },
      })
    }
    for (const name of functions) {
      this.#replace(Buffer, name, {
        apply: (target, self, values) => {
          this.#count(`Buffer.${name}`, sizeOf(values))
          return Reflect.apply(target, self, values)
        },
      })
    }
    this.#replace(ArrayBuffer.prototype, 'resize', {
      apply: (target, self, values) => {
        // A smaller buffer needs no new memory.
        this.#count('resize', sizeOf(values) > self.byteLength ? sizeOf(values) : -1)
        return Reflect.apply(target, self, values)
      },
    })
  }

  #replace(owner: object, name: string, handler: ProxyHandler<() => object>): void {
    const original = Reflect.get(owner, name)
    Reflect.set(owner, name, new Proxy(original, handler))
    this.#originals.push(() => Reflect.set(owner, name, original))
  }

  /** Calls `act`, and makes its allocation with index `number` fail; `failed` is false if there were too few. */
  async failing(number: number, act: () => unknown): Promise<{ failed: boolean; thrown: unknown }> {
    this.#left = number
    let thrown: unknown
    try {
      await act()
    } catch (error) {
      thrown = error
    }
    const failed = this.#left < 0
    this.#left = Number.POSITIVE_INFINITY
    return { failed, thrown }
  }

  restore(): void {
    for (const restore of this.#originals) restore()
  }

  #count(name: string, size: number): void {
    if (size < this.#minimum) return
    this.#left -= 1
    if (this.#left !== -1) return
    this.failures.add(name)
    throw new RangeError('Array buffer allocation failed')
  }
}
