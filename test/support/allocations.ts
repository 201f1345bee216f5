/** Makes single memory allocations fail, as if the system had run out of memory. */

const constructors = [
  ...(['ArrayBuffer', 'Uint8Array', 'Uint16Array', 'Uint32Array', 'Int32Array'] as const),
  ...(['Float64Array', 'DataView', 'Array', 'Map', 'Set'] as const),
]
const functions = ['alloc', 'allocUnsafe', 'allocUnsafeSlow', 'from', 'concat'] as const

/** Counts the allocations that go through the constructors and functions of the runtime. */
export class Allocations {
  /** What has failed so far: the names of constructors and functions, with counts. */
  readonly failures = new Map<string, number>()
  #left = Number.POSITIVE_INFINITY
  readonly #originals: (() => void)[] = []

  /** Replaces them until `restore`. */
  constructor() {
    const globals = globalThis as unknown as Record<string, new () => object> // their common shape
    for (const name of constructors) {
      const original = globals[name]
      if (original === undefined) continue
      globals[name] = new Proxy(original, {
        construct: (target, values, newTarget) => {
          this.#count(name)
          return Reflect.construct(target, values, newTarget === globals[name] ? target : newTarget)
        },
      })
      this.#originals.push(() => {
        globals[name] = original
      })
    }
    const buffers = Buffer as unknown as Record<string, (...values: unknown[]) => Buffer> // likewise
    for (const name of functions) {
      const original = buffers[name]
      if (original === undefined) continue
      buffers[name] = (...values) => {
        this.#count(`Buffer.${name}`)
        return original.apply(Buffer, values)
      }
      this.#originals.push(() => {
        buffers[name] = original
      })
    }
  }

  /**
   * Does something, and makes the allocation with this number fail, counted from 0.
   * @returns whether it got that far, and what was thrown, if anything.
   */
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

  #count(name: string): void {
    this.#left -= 1
    if (this.#left !== -1) return
    this.failures.set(name, (this.failures.get(name) ?? 0) + 1)
    throw new RangeError('Array buffer allocation failed')
  }
}
