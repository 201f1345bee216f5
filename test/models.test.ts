/** Specification §2.7: models that no endpoint uses. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { FileUploadRequest, FileUploadResponse } from '../src/interface/models.js'

const uploads = [
  { title: 'project_id alone', value: { project_id: 'p' }, valid: true },
  { title: 'project_id and filename', value: { project_id: 'p', filename: 'a.txt' }, valid: true },
  { title: 'filename empty', value: { project_id: 'p', filename: '' }, valid: true },
  { title: 'project_id missing', value: { filename: 'a.txt' }, valid: false },
  { title: 'project_id of length 0', value: { project_id: '' }, valid: false },
  { title: 'project_id a number', value: { project_id: 1 }, valid: false },
  { title: 'project_id null', value: { project_id: null }, valid: false },
  { title: 'filename a number', value: { project_id: 'p', filename: 1 }, valid: false },
  { title: 'a string', value: 'p', valid: false },
  { title: 'null', value: null, valid: false },
]
for (const { title, value, valid } of uploads) {
  test(`§2.7 FileUploadRequest ${valid ? 'accepts' : 'rejects'}: ${title}`, () => {
    assert.equal(v.is(FileUploadRequest, value), valid)
  })
}

const file = { file_id: 'f1', file_size: 12, file_path: '/files/f1' }
const uploaded = [
  { title: 'all fields', value: file, valid: true },
  {
    title: 'all fields null',
    value: { file_id: null, file_size: null, file_path: null },
    valid: true,
  },
  { title: 'no fields', value: {}, valid: true },
  { title: 'file_id alone', value: { file_id: 'f1' }, valid: true },
  { title: 'file_size 0', value: { ...file, file_size: 0 }, valid: true },
  { title: 'file_size a fraction', value: { ...file, file_size: 1.5 }, valid: false },
  { title: 'file_size a string', value: { ...file, file_size: '12' }, valid: false },
  { title: 'file_id a number', value: { ...file, file_id: 1 }, valid: false },
  { title: 'file_path an object', value: { ...file, file_path: {} }, valid: false },
  { title: 'an array', value: [], valid: false },
]
for (const { title, value, valid } of uploaded) {
  test(`§2.7 FileUploadResponse ${valid ? 'accepts' : 'rejects'}: ${title}`, () => {
    assert.equal(v.is(FileUploadResponse, value), valid)
  })
}

test('§2.7 the fields of FileUploadResponse are null by default', () => {
  const value = v.parse(FileUploadResponse, {})
  assert.deepEqual(value, { file_id: null, file_size: null, file_path: null })
})
