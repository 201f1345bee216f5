/** The guides are true: every snippet is run, and every row of a table is tried. */

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceAt } from '../../conformance/client.js'
import { itemsOf } from '../../conformance/expect.js'
import { inSeconds } from '../../conformance/tokens.js'
import { ownService, ownTest as test } from '../../support/own-service.js'
import { freePort } from '../../support/process.js'
import { programTest } from '../../support/program-test.js'
import {
  assertShown,
  putCommand,
  rowsUnder,
  runInShell,
  type Snippet,
  snippetsBy,
  snippetsOf,
  startInShell,
  withoutIds,
} from '../../support/snippets.js'
import { root } from '../../support/tools.js'
import { until } from '../../support/until.js'
import { workflowErrors } from '../../support/workflow.js'
import { parseYaml } from '../../support/yaml.js'

const newFolder = () => mkdtempSync(join(tmpdir(), 'item-store-guide-'))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** The cells of all rows of the table with this head. */
function rows(file: string, head: string): string[][] {
  const lines = rowsUnder(read(file), head)
  assert.ok(lines.length > 0, `${file} has no table ${head}`)
  return lines.map((line) => line.slice(2, -2).split(' | '))
}

programTest('jq', 'docs/how-to/agents-and-jobs.md: the commands print what is shown', async () => {
  const file = 'docs/how-to/agents-and-jobs.md'
  const { sh, js } = snippetsBy(file, ['sh', 'js', 'json'])
  const [start, ...steps] = sh
  assert.ok(start !== undefined)
  const port = await freePort()
  const place = { cwd: newFolder(), env: { PORT: String(port) } }
  for (const { text, place: where } of js) {
    const [, name] = /^\/\/ (\w+\.mjs)\n/.exec(text) ?? []
    assert.ok(name !== undefined, `${where} has no name`)
    writeFileSync(join(place.cwd, name), text)
  }
  mkdirSync(join(place.cwd, 'node_modules'))
  symlinkSync(root, join(place.cwd, 'node_modules/item-store'))
  startInShell(start, place)
  const origin = `http://127.0.0.1:${port}`
  await until('the store serves', () => fetch(`${origin}/api/v1/health`).catch(() => undefined))
  const outputs = await runInShell(steps, place, (text) =>
    text.replace('http://localhost:8000', origin),
  )
  assertShown(snippetsOf(file), ['', ...outputs]) // what starts the service is not compared
})

/** A project with the test of the guide, and its package-lock. */
function projectFor({ text }: Snippet, port: number): string {
  const folder = newFolder()
  const manifest = {
    name: 'app',
    version: '1.0.0',
    scripts: {
      // `npm ci` empties node_modules, and the build under test comes from no registry.
      postinstall: 'mkdir -p node_modules/.bin && cp installed/item-store node_modules/.bin',
    },
  }
  const lock = { name: 'app', version: '1.0.0', lockfileVersion: 3, packages: { '': manifest } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
  putCommand(join(folder, 'installed'))
  writeFileSync(join(folder, 'order.test.js'), text.replace('8000', String(port)))
  return folder
}

test('docs/how-to/ci.md: the shell lines run the tests against a store', async () => {
  const { sh, js } = snippetsBy('docs/how-to/ci.md', ['sh', 'js', 'yaml'])
  assert.ok(js[0] !== undefined && sh.length === 2)
  const port = await freePort()
  const place = { cwd: projectFor(js[0], port) }
  const [, output = ''] = await runInShell(sh, place, (text) =>
    text.replaceAll('8000', String(port)),
  )
  assert.match(output, /pass 1\n/)
  // The lines themselves have stopped the store, and waited for it.
  await assert.rejects(fetch(`http://127.0.0.1:${port}/api/v1/health`), (error) => {
    assert.ok(error instanceof Error)
    assert.match(String(error.cause), /ECONNREFUSED/)
    return true
  })
  assert.match(readFileSync(join(place.cwd, 'item-store.log'), 'utf8'), /SIGTERM: stopping/)
})

interface Workflow {
  readonly jobs: { test: { steps: { run?: string; if?: string }[] } }
}

test('docs/how-to/ci.md: GitHub accepts the workflow, and its steps run the tests', async () => {
  const { sh, yaml, js } = snippetsBy('docs/how-to/ci.md', ['sh', 'js', 'yaml'])
  const [workflow] = yaml
  const [manifest] = sh
  assert.ok(workflow !== undefined && js[0] !== undefined && manifest !== undefined)
  assert.deepEqual(workflowErrors(workflow.text), [])
  assert.notDeepEqual(workflowErrors(workflow.text.replace('runs-on', 'run-on')), [])

  const port = await freePort()
  const cwd = projectFor(js[0], port)
  const environment = join(cwd, 'github.env')
  writeFileSync(environment, '')
  const { steps } = parseYaml<Workflow>(workflow.text).jobs.test
  // Each step has a shell of its own: only what it writes to GITHUB_ENV reaches the next.
  const next = 'unset JWT_SECRET; set -a; . "$GITHUB_ENV"; set +a'
  const snippets = steps
    .filter((step) => step.if === undefined)
    .flatMap(({ run }) => (run === undefined ? [] : [{ ...workflow, text: `${run}\n${next}` }]))
  assert.ok(snippets.length >= 3)
  const outputs = await runInShell(
    [manifest, ...snippets],
    { cwd, env: { GITHUB_ENV: environment } },
    (text) => text.replaceAll('8000', String(port)),
  )
  assert.match(outputs.join(''), /pass 1\n/)
})

test('docs/how-to/from-json-server.md: db.json becomes items', async () => {
  const { json, js, sh } = snippetsBy('docs/how-to/from-json-server.md', ['json', 'js', 'sh'])
  const [convert, start] = sh
  assert.ok(json[0] !== undefined && js[0] !== undefined)
  assert.ok(convert !== undefined && start !== undefined)
  const secret = 'a secret of at least thirty-two bytes'
  const port = await freePort()
  const place = { cwd: newFolder(), env: { JWT_SECRET: secret, PORT: String(port) } }
  writeFileSync(join(place.cwd, 'db.json'), json[0].text)
  writeFileSync(join(place.cwd, 'convert.mjs'), js[0].text)
  await runInShell([convert], place)
  const other = newFolder()
  writeFileSync(
    join(other, 'db.json'),
    '{"v":1,"none":null,"mixed":[null,[1],"x",{"id":1,"n":1.0,"big":12345678901234567890}],"old":[{"id":2,"project_id":"p","oldId":"o"},{"id":3}]}',
  )
  writeFileSync(join(other, 'convert.mjs'), js[0].text)
  const [said] = await runInShell([{ ...convert, text: `${convert.text.trim()} 2>&1` }], {
    cwd: other,
  })
  assert.deepEqual(said?.trimEnd().split('\n'), [
    'v: 1 is not an object, left out',
    'none: null is not an object, left out',
    'mixed: null is not an object, left out',
    'mixed: [1] is not an object, left out',
    'mixed: "x" is not an object, left out',
    'mixed: id is kept as oldId',
    'old: id 2 is left out, as there is an oldId',
    'old: project_id is kept as oldProjectId',
    'old: id is kept as oldId',
  ])
  assert.deepEqual(JSON.parse(readFileSync(join(other, 'seed.json'), 'utf8')), [
    { project_id: 'mixed', data: { oldId: 1, n: 1, big: 12345678901234567000 } },
    { project_id: 'old', data: { oldId: 'o', oldProjectId: 'p' } },
    { project_id: 'old', data: { oldId: 3 } },
  ])
  startInShell(start, place)

  const service = serviceAt(new URL(`http://127.0.0.1:${port}/api/v1`), secret)
  const list = await until('the store serves', () =>
    service.call('GET', '/items').catch(() => undefined),
  )
  const items = itemsOf(list).map(({ id: _id, ...members }) => members)
  assert.deepEqual(items, [
    { project_id: 'posts', oldId: '1', title: 'a title', views: 100 },
    { project_id: 'posts', oldId: '2', title: 'another title', views: 200 },
    { project_id: 'comments', oldId: '1', text: 'a comment about post 1', postId: '1' },
    { project_id: 'profile', name: 'typicode' },
  ])
})

const fastapi = 'docs/how-to/from-fastapi.md'

for (const [request = '', , answer = ''] of rows(fastapi, '| request | FastAPI | this service |')) {
  test(`${fastapi}: ${request} is answered ${answer}`, async () => {
    const [, method = '', path = '', body] = /^`(\w+) (\S+)`(?: `(.*)`)?$/.exec(request) ?? []
    const { request: send, validToken } = await ownService()
    const { status, headers, text } = await send(method, path, {
      token: validToken(),
      ...(body === undefined ? {} : { body }),
    })
    assert.equal(String(status), answer.slice(0, 3))
    const shown = [...answer.matchAll(/`([^`]*)`/g)].map(([, part = '']) => part)
    const whole = `${JSON.stringify(headers)}${text}`
    for (const part of shown) assert.ok(whole.includes(part), `${part} in ${whole}`)
    if (answer.includes('without a body')) assert.equal(text, '')
  })
}

test(`${fastapi}: the items of one service are copied to another, to the byte`, async () => {
  const [save, start] = snippetsBy(fastapi, ['sh']).sh
  assert.ok(save !== undefined && start !== undefined)
  const secret = 'a secret of at least thirty-two bytes'
  const old = await ownService({ JWT_SECRET: secret })
  const members = ['"text":"with \\"quotes\\", [ and ]\\n","n":1.10', '"big":12345678901234567890']
  for (const text of members) {
    const body = `{"project_id":"one","data":{${text}}}`
    await old.request('POST', '/items', { token: old.validToken(), body })
  }
  const port = await freePort()
  const env = { TOKEN: old.validToken(), JWT_SECRET: secret, PORT: String(port) }
  const place = { cwd: newFolder(), env }
  await runInShell([save], place, (text) =>
    text.replace('http://localhost:9000', old.baseUrl.origin),
  )
  startInShell(start, place)
  const fresh = serviceAt(new URL(`http://127.0.0.1:${port}/api/v1`), secret)
  const { text } = await until('the store serves', () =>
    fresh.call('GET', '/items').catch(() => undefined),
  )
  for (const each of members) assert.ok(text.includes(`,"project_id":"one",${each}}`), text)
})

const conformance = 'docs/how-to/conformance.md'

programTest('uvicorn', `${conformance}: tells what the service in Python fails`, async () => {
  const { sh } = snippetsBy(conformance, ['sh', 'text'])
  const folder = newFolder()
  const cwd = join(folder, 'project')
  mkdirSync(cwd)
  symlinkSync(root, join(folder, 'item-store'))
  const port = String(await freePort())
  const env = { PYTHONDONTWRITEBYTECODE: '1' }
  const outputs = await runInShell(sh, { cwd, env }, (text) => text.replaceAll('8001', port))
  assertShown(snippetsOf(conformance), outputs, 'text')
  const report = readFileSync(join(cwd, 'report.tap'), 'utf8')
  assert.ok(Number(/^# pass (\d+)$/m.exec(report)?.[1]) > 100, report)
})

const errors = 'docs/reference/interface.md'

test(`${errors}: the body shown is that of the service`, async () => {
  const { json } = snippetsBy(errors, ['json'])
  const own = await ownService()
  const token = own.mint({ sub: 'tester', exp: inSeconds(-10) })
  const shown: unknown = JSON.parse(withoutIds(json[0]?.text ?? ''))
  const { text } = await own.request('GET', '/items', { token })
  assert.deepEqual(JSON.parse(withoutIds(text)), shown)
})
