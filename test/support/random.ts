/** Random numbers that are the same in every run. */

/**
 * Creates Park and Miller's random number generator. It returns whole numbers that are at least 0 and less than a
 * limit.
 * @param seed whole number from 1 to 2,147,483,646.
 */
export function randomNumbers(seed = 1): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647
    return state % limit
  }
}
