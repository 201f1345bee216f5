/** Tests that the client snippets in docs/how-to/web-app.md print what their comments say. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownProcess } from '../../support/own-process.js'
import { ownService } from '../../support/own-service.js'
import { readText } from '../../support/tools.js'
import { userProject } from '../../support/user-project.js'

const guide = readText('docs/how-to/web-app.md')
const snippets = [...guide.matchAll(/^```ts\n(?!\/\/ src)(.*?)^```$/gms)].map(
  ([, code = '']) => code,
)
const printed = [...snippets.join('').matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(
  ([, text = '']) => text,
)

test('every snippet of the guide compiles and prints the stated output', async () => {
  assert.ok(snippets.length >= 6 && printed.length >= 7)
  const service = await ownService()
  const token = service.validToken()
  const program = snippets
    .join('\n')
    .replaceAll('http://localhost:8000/api/v1', service.baseUrl.href)
  const { folder, compile } = userProject(program)
  assert.equal(compile({ module: 'nodenext', lib: ['es2022'], types: ['node'] }), '')

  const run = ownProcess([process.execPath, 'program.js'], { cwd: folder, env: { TOKEN: token } })
  assert.deepEqual(await run.ended(), [0, null])
  assert.deepEqual((await run.printed(/^/)).trimEnd().split('\n'), printed)
})
