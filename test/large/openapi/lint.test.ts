/** Checks the OpenAPI document with the Redocly linter. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { cli } from '../../support/own-service.js'
import { outputOf } from '../../support/process.js'
import { emptyFolder, toolCommand } from '../../support/tools.js'

const folder = emptyFolder()
writeFileSync(join(folder, 'openapi.json'), outputOf(process.execPath, [cli, 'openapi']))
const rules = {
  ...{ 'operation-description': 'error', 'operation-tag-defined': 'error' },
  ...{ 'no-invalid-schema-examples': 'error', 'no-invalid-parameter-examples': 'error' },
}
writeFileSync(join(folder, 'redocly.yaml'), JSON.stringify({ extends: ['recommended'], rules }))
// No request or response uses these schemas (spec §2.6, §2.7), but clients may need them.
const unused = ['TokenPayload', 'FileUploadRequest', 'FileUploadResponse']
const locations = unused.map((name) => `#/components/schemas/${name}`)
const ignored = { 'openapi.json': { 'no-unused-components': locations } }
writeFileSync(join(folder, '.redocly.lint-ignore.yaml'), JSON.stringify(ignored))

test('Redocly reports no errors and no warnings for the document', () => {
  const args = [toolCommand('redocly'), 'lint', 'openapi.json', '--format', 'json']
  const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const report = outputOf(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, ...quiet },
  })
  assert.deepEqual(JSON.parse(report).problems, [])
})
