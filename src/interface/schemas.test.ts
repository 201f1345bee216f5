/** The models that no endpoint uses, and the schemas as other programs see them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { ErrorResponse } from './models.js'
import { FileUploadRequest, FileUploadResponse } from './schemas.js'

test('§2.7 the upload models have the fields, types and defaults of the specification', () => {
  const request = { project_id: 'p', filename: 'a.txt' }
  assert.deepEqual(v.parse(FileUploadRequest, request), request)
  assert.ok(!v.is(FileUploadRequest, { ...request, project_id: '' }))
  const response = { file_id: 'f1', file_size: 12, file_path: '/files/f1' }
  assert.deepEqual(v.parse(FileUploadResponse, response), response)
  assert.deepEqual(v.parse(FileUploadResponse, {}), {
    file_id: null,
    file_size: null,
    file_path: null,
  })
  assert.ok(!v.is(FileUploadResponse, { ...response, file_size: 1.5 }))
})

test('a schema validates in the form that libraries share', async () => {
  const { validate } = ErrorResponse['~standard']
  const body = { detail: { detail: 'Item a not found' } }
  assert.deepEqual(await validate(body), { typed: true, value: body })
  const { issues = [] } = await validate({ detail: { detail: 1 } })
  assert.equal(issues.length, 1)
  assert.match(issues[0]?.message ?? '', /Expected string/)
})
