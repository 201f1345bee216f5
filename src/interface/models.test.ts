/** Specification §2.7: models that no endpoint uses. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { FileUploadRequest, FileUploadResponse } from './models.js'

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
