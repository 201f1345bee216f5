import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ErrorCode, errorKinds, isTokenError } from './errors.js'

test('the outcomes of verifying a token are the 401s, and that there is no usable secret', () => {
  const codes = Object.keys(errorKinds) as ErrorCode[] // the keys of the catalogue
  const outcomes = ['MISSING_TOKEN', 'TOKEN_EXPIRED', 'INVALID_TOKEN', 'AUTH_NOT_CONFIGURED']
  assert.deepEqual(codes.filter(isTokenError), outcomes)
})
