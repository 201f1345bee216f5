/** Memory outside of the JavaScript heap that the system may refuse. @module */

/**
 * Allocates memory. Call it before anything changes, so that a refusal leaves everything as it was.
 * @param refusal makes the error to throw if the system has no memory left.
 */
export function allocate<T>(make: () => T, refusal: (cause: RangeError) => Error): T {
  try {
    return make()
  } catch (error) {
    throw error instanceof RangeError ? refusal(error) : error
  }
}
