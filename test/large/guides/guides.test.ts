/** Runs every snippet of the guides, and tests every row of their tables. */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { create, itemsOf } from '../../conformance/expect.js'
import { ownService, ownTest as test } from '../../support/own-service.js'
import { freePort, ownProcess, until, untilGone } from '../../support/process.js'
import {
  assertShown,
  rowsUnder,
  runInShell,
  serveInShell,
  snippetsBy,
  snippetsOf,
  startInShell,
} from '../../support/snippets.js'
import {
  cleanEnvironment,
  emptyFolder,
  programTest,
  readText,
  root,
  toolsFolder,
} from '../../support/tools.js'
import { workflowErrors } from '../../support/workflow.js'
import { parseYaml } from '../../support/yaml.js'

const jobs = 'docs/how-to/agents-and-jobs.md'

function folderOfJobs(change: (text: string) => string = (text) => text): string {
  const cwd = emptyFolder()
  for (const { text, place } of snippetsBy(jobs, ['sh', 'js', 'json']).js) {
    const [, name] = /^\/\/ (\w+\.mjs)\n/.exec(text) ?? []
    assert.ok(name !== undefined, `the snippet at ${place} has no file name`)
    writeFileSync(join(cwd, name), change(text))
  }
  linkPackages(cwd)
  return cwd
}

function linkPackages(cwd: string): void {
  mkdirSync(join(cwd, 'node_modules'))
  symlinkSync(root, join(cwd, 'node_modules/item-store'))
  const codec = 'node_modules/lossless-json'
  symlinkSync(join(toolsFolder, codec), join(cwd, codec))
}

test(`${jobs}: a worker does not delete a job that another worker has taken over`, async () => {
  const late =
    "await client.update(id, (job) => ({ ...job, worker: 'other', project_id: 'taken' }))"
  const cwd = folderOfJobs((text) => text.replace('console.log(job.task)', late))
  const service = await ownService()
  const { id } = await create(service, { task: 1 }, 'jobs')
  const env = { ...cleanEnvironment(), BASE: service.baseUrl.href, TOKEN: service.validToken() }
  const run = ownProcess([process.execPath, 'worker.mjs'], { cwd, env })
  assert.deepEqual(await run.ended(), [0, null])
  const left = itemsOf(await service.call('GET', '/items?project_id=taken'))
  assert.deepEqual(
    left.map((item) => [item.id, item.worker]),
    [[id, 'other']],
  )
})

test(`${jobs}: of a job that is done twice, the result is stored once`, async () => {
  const service = await ownService()
  const env = { ...cleanEnvironment(), BASE: service.baseUrl.href, TOKEN: service.validToken() }
  const count = async (project: string) =>
    itemsOf(await service.call('GET', `/items?project_id=${project}`)).length
  await create(service, { task: 1 }, 'jobs')
  for (const crash of ['process.exit()', '']) {
    const cwd = folderOfJobs((text) =>
      text.replace('// After an error, the job', `${crash} //`).replace('60_000', '1'),
    )
    const run = ownProcess([process.execPath, 'worker.mjs'], { cwd, env })
    assert.deepEqual(await run.ended(), [0, null])
    assert.equal(await run.printed(/^/), '1\n')
    assert.equal(await count('results'), 1)
    assert.equal(await count('jobs'), crash === '' ? 0 : 1)
  }
})

programTest('jq', `${jobs}: the output is as shown`, async () => {
  const [start, ...steps] = snippetsBy(jobs, ['sh', 'js', 'json']).sh
  assert.ok(start !== undefined)
  const port = await freePort()
  const place = { cwd: folderOfJobs(), env: { PORT: String(port) } }
  startInShell(start, place)
  const origin = `http://127.0.0.1:${port}`
  await until('the store serves', () => fetch(`${origin}/api/v1/health`).catch(() => undefined))
  const outputs = await runInShell(steps, place, (text) =>
    text.replace('http://localhost:8000', origin),
  )
  assertShown(snippetsOf(jobs), ['', ...outputs]) // the output of the first command is not compared
})

const control = 'docs/how-to/control.md'

const testing = snippetsOf('docs/how-to/testing.md')

test('docs/how-to/testing.md: GitHub accepts the workflow, and GitLab runs the same commands', () => {
  const [github, gitlab] = testing.filter(({ language }) => language === 'yaml')
  assert.ok(github && gitlab)
  assert.deepEqual(workflowErrors(github.text), [])
  const { steps } = parseYaml<{ jobs: { test: { steps: { run?: string }[] } } }>(github.text).jobs
    .test
  const { script } = parseYaml<{ test: { script: string[] } }>(gitlab.text).test
  assert.deepEqual(
    steps.flatMap(({ run }) => run ?? []),
    script,
  )
})

test('docs/reference/embedding.md: the example prints what its comment says', async () => {
  const [{ text } = assert.fail()] = snippetsOf('docs/reference/embedding.md')
  const cwd = emptyFolder()
  linkPackages(cwd)
  writeFileSync(join(cwd, 'example.mjs'), text)
  const run = ownProcess([process.execPath, 'example.mjs'], { cwd, env: cleanEnvironment() })
  assert.deepEqual(await run.ended(), [0, null])
  assert.equal(await run.printed(/^/), `${/console\.log.* \/\/ (.*)/.exec(text)?.[1]}\n`)
})

test('docs/how-to/testing.md: Cypress gets tasks, an address and a token', async () => {
  const config = testing.findLast(({ language }) => language === 'js')
  assert.match(config?.text ?? '', /from 'cypress'/)
  assert.ok(config !== undefined)
  const cwd = emptyFolder()
  linkPackages(cwd)
  const cypress = 'node_modules/cypress'
  mkdirSync(join(cwd, cypress))
  writeFileSync(join(cwd, cypress, 'index.mjs'), 'export const defineConfig = (config) => config')
  writeFileSync(join(cwd, cypress, 'package.json'), '{ "exports": "./index.mjs" }')
  writeFileSync(join(cwd, 'cypress.config.mjs'), config.text)
  const program = `
    import config from './cypress.config.mjs'
    let tasks
    const { env } = await config.e2e.setupNodeEvents((name, all) => { tasks = all }, {})
    const list = async () => (await (await fetch(env.baseUrl + '/items',
      { headers: { Authorization: 'Bearer ' + env.token } })).json()).data.length
    const [id] = await tasks.seed([{ name: 'Ladder' }])
    console.log(id.length, await list(), await tasks.reset(), await list())
    process.exit()`
  const run = ownProcess([process.execPath, '--input-type=module', '-e', program], {
    cwd,
    env: cleanEnvironment(),
  })
  assert.deepEqual(await run.ended(), [0, null])
  assert.equal(await run.printed(/^/), '36 1 null 0\n')
})

programTest('jq', `${control}: the output is as shown`, async () => {
  const { sh } = snippetsBy(control, ['sh', 'json'])
  assertShown(snippetsOf(control), await runInShell(sh, { cwd: emptyFolder() }))
})

programTest(
  'jq',
  `${control}: the store stops when the script that started it is killed`,
  async () => {
    const [start = assert.fail()] = snippetsBy(control, ['sh', 'json']).sh
    const text = `${start.text}\necho "[$url]"\nkill -9 $$`
    const script = startInShell({ ...start, text }, { cwd: emptyFolder() })
    assert.deepEqual(await script.ended(), [null, 'SIGKILL'])
    await untilGone(/\[(.*)\]/.exec(await script.printed(/\[.*\]/))?.[1] ?? '')
  },
)

test('docs/how-to/dev.md: a db.json becomes items, except for values that are no objects', async () => {
  const { js, sh } = snippetsBy('docs/how-to/dev.md', ['js', 'sh', 'json', 'text', ''])
  const convert = sh.at(-1)
  assert.ok(js[0] !== undefined && js[1] !== undefined && convert !== undefined)
  const cwd = emptyFolder()
  const numbers = '"big":12345678901234567890,"price":1.10,"far":1e400'
  const db = `{
    "$schema": "./node_modules/json-server/schema.json", "none": null, "count": 1.0,
    "posts": [{ "id": "1", "title": "a title", "views": 100, ${numbers} }, "a text", null, 5],
    "comments": [{ "id": 7, "text": "a comment", "postId": "1", "constructor": [{}] }],
    "profile": { "name": "typicode" }
  }`
  writeFileSync(join(cwd, 'db.json'), db)
  writeFileSync(join(cwd, 'convert.mjs'), js[0].text)
  linkPackages(cwd)
  const service = await serveInShell(convert, { cwd })
  const { text } = await service.call('GET', '/items')
  assert.deepEqual(text.match(/(?<=","project_id":).*?(?=},{"id"|}]})/g), [
    `"posts","title":"a title","views":100,${numbers},"oldId":"1"`,
    '"comments","text":"a comment","postId":"1","constructor":[{}],"oldId":7',
    '"profile","name":"typicode"',
  ])
  const list = js[1].text.replace('http://localhost:8000/api/v1', service.baseUrl.href)
  writeFileSync(join(cwd, 'list.mjs'), list)
  const run = ownProcess([process.execPath, 'list.mjs'], {
    cwd,
    env: { TOKEN: service.validToken() },
  })
  assert.deepEqual(await run.ended(), [0, null])
  assert.equal(await run.printed(/^/), '1 a title 0 1\n')
})

const conformance = 'docs/how-to/conformance.md'
const compared = rowsUnder(readText(conformance), '| request | FastAPI | this service |')
assert.ok(compared.length > 0)
const { request: send, validToken } = await ownService()

for (const row of compared) {
  const [request = '', , answer = ''] = row.slice(2, -2).split(' | ')
  test(`${conformance}: ${request} gets the response ${answer}`, async () => {
    const [, method = '', path = '', body] = /^`(\w+) (\S+)`(?: `(.*)`)?$/.exec(request) ?? []
    const options = { token: validToken(), ...(body === undefined ? {} : { body }) }
    const { status, headers, text } = await send(method, path, options)
    assert.equal(String(status), answer.slice(0, 3))
    const whole = `${JSON.stringify(headers)}${text}`
    for (const [, part = ''] of answer.matchAll(/`([^`]*)`/g)) {
      assert.ok(whole.includes(part), `${part} in ${whole}`)
    }
  })
}

const processes = 'docs/how-to/processes.md'
test(`${processes}: items are exported and imported with all digits, each only once`, async () => {
  const all = snippetsOf(processes)
  const [, exportItems, , importItems] = all.filter(({ language }) => language === 'sh')
  const program = all.find(({ language }) => language === 'js')
  assert.ok(exportItems && importItems && program)
  const [old, other] = [await ownService(), await ownService()]
  const members = ['"text":"with \\"quotes\\", [ and ]\\n","n":1.10', '"big":12345678901234567890']
  for (const text of members) {
    const body = `{"project_id":"one","data":{${text}}}`
    await old.request('POST', '/items', { token: old.validToken(), body })
  }
  const cwd = emptyFolder()
  linkPackages(cwd)
  writeFileSync(join(cwd, 'import.mjs'), program.text)
  for (const [service, steps] of [
    [old, [exportItems]],
    [other, [importItems, importItems]],
  ] as const) {
    await runInShell(steps, {
      cwd,
      env: { BASE: service.baseUrl.href, TOKEN: service.validToken() },
    })
  }
  const { text } = await other.call('GET', '/items')
  for (const each of members)
    assert.equal(text.split(`,"project_id":"one",${each}}`).length, 2, text)
})

programTest('uvicorn', `${conformance}: reports the failures of a Python service`, async () => {
  const sh = snippetsBy(conformance, ['sh', 'text']).sh.slice(0, 2)
  const folder = emptyFolder()
  const cwd = join(folder, 'project')
  mkdirSync(cwd)
  symlinkSync(root, join(folder, 'item-store'))
  const port = String(await freePort())
  const env = { PYTHONDONTWRITEBYTECODE: '1' }
  const outputs = await runInShell(sh, { cwd, env }, (text) => text.replaceAll('8001', port))
  assertShown(snippetsOf(conformance), [...outputs, ''], 'text')
  const report = readFileSync(join(cwd, 'report.tap'), 'utf8')
  assert.ok(Number(/^# pass (\d+)$/m.exec(report)?.[1]) > 100, report)
})
