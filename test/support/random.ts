/** Random numbers that are the same in every run. */

/** Returns a Park-Miller generator of random integers below a limit. @param seed at least 1. */
export function randomNumbers(seed = 1): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647
    return state % limit
  }
}
