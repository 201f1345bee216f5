/** Tests the models that no endpoint uses, through the Standard Schema interface, as programs use them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileUploadRequest, FileUploadResponse } from './models.js'

test('§2.7 the upload models have the fields, types and defaults of the specification', async () => {
  const request = FileUploadRequest['~standard']
  const response = FileUploadResponse['~standard']
  const valid = { project_id: 'p', filename: 'a.txt' }
  assert.deepEqual(await request.validate(valid), { typed: true, value: valid })
  assert.ok((await request.validate({ ...valid, project_id: '' })).issues)
  const full = { file_id: 'f1', file_size: 12, file_path: '/files/f1' }
  assert.deepEqual(await response.validate(full), { typed: true, value: full })
  const empty = { file_id: null, file_size: null, file_path: null }
  assert.deepEqual(await response.validate({}), { typed: true, value: empty })
  assert.ok((await response.validate({ ...full, file_size: 1.5 })).issues)
})
