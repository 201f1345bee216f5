/** Random numbers that are the same in every run. */

/** @returns a function that gives whole numbers below its limit (Park and Miller's generator). */
export function seeded(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647
    return state % limit
  }
}
