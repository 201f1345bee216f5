/**
 * When the items of each project last changed, as the number of that change. Only the projects that changed last are
 * remembered. For any other, it is the number of the last change that is forgotten: too late, but never too early.
 *
 * @module
 */

/** Maximum total length of the names of remembered projects, in characters. */
const maxLength = 512 * 1024
/** Characters that a remembered project counts besides its name: 10,000 projects with short names fit. */
const overhead = 40

export class ProjectChanges {
  /** From the project that changed longest ago to the one that changed last. */
  readonly #latest = new Map<string, number>()
  #length = 0
  #forgotten = 0

  /** The number of the last change of this project's items, or a later one. */
  latest(project: string): number {
    return this.#latest.get(project) ?? this.#forgotten
  }

  /** @param change its number, which is higher than those before. */
  add(project: string | undefined, change: number): void {
    if (project === undefined) return
    if (!this.#latest.delete(project)) this.#length += project.length + overhead
    this.#latest.set(project, change)
    for (const [oldest, number] of this.#latest) {
      if (this.#length <= maxLength) break
      this.#latest.delete(oldest)
      this.#length -= oldest.length + overhead
      this.#forgotten = number
    }
  }

  /** Everything has changed. */
  addAll(change: number): void {
    this.#latest.clear()
    this.#length = 0
    this.#forgotten = change
  }
}
