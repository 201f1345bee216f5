/** What calls of the client have to come to. */

import assert from 'node:assert/strict'
import { ItemStoreError } from '../../src/client/client.js'

/** The error with which a call fails. */
export async function errorOf(call: Promise<unknown>): Promise<ItemStoreError> {
  const error = await call.then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof ItemStoreError, String(error))
  return error
}
