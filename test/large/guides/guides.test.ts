/** Runs the snippets of the guides, and tests every row of their tables. */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from '../../conformance/client.js'
import { create, itemsOf } from '../../conformance/expect.js'
import { ownService, ownTest as test } from '../../support/own-service.js'
import { freePort, until, untilGone } from '../../support/process.js'
import {
  assertShown,
  folderOf,
  rowsUnder,
  runInShell,
  serveInShell,
  snippetsBy,
  snippetsOf,
  startInShell,
} from '../../support/snippets.js'
import { emptyFolder, programTest, readText, root } from '../../support/tools.js'
import { workflowErrors } from '../../support/workflow.js'

const accessTo = ({ baseUrl, validToken }: Service) => ({
  BASE: baseUrl.href,
  TOKEN: validToken(),
})

const jobs = 'docs/how-to/agents-and-jobs.md'

programTest('jq', `${jobs}: the output is as shown`, async () => {
  const [start = '', ...steps] = snippetsBy(jobs, ['sh', 'js', 'json']).sh
  const port = await freePort()
  const place = { cwd: folderOf(jobs), env: { PORT: String(port) } }
  startInShell(start, place)
  const origin = `http://127.0.0.1:${port}`
  await until('the store serves', () => fetch(`${origin}/api/v1/health`).catch(() => undefined))
  const local = steps.map((text) => text.replace('http://localhost:8000', origin))
  assertShown(snippetsOf(jobs), ['', ...(await runInShell(local, place))])
})

/** Runs a changed worker until it ends, and returns what it printed. */
async function work(service: Service, change: (text: string) => string): Promise<string[]> {
  const place = { cwd: folderOf(jobs, change), env: accessTo(service) }
  return await runInShell(['node worker.mjs'], place)
}

test(`${jobs}: a worker does not delete a job that another worker has taken over`, async () => {
  const late =
    "await client.update(id, (job) => ({ ...job, worker: 'other', project_id: 'taken' }))"
  const service = await ownService()
  const { id } = await create(service, { task: 1 }, 'jobs')
  await work(service, (text) => text.replace('console.log(job.task)', late))
  const [left] = itemsOf(await service.call('GET', '/items?project_id=taken'))
  assert.deepEqual([left?.id, left?.worker], [id, 'other'])
})

test(`${jobs}: of a job that is done twice, the result is stored once`, async () => {
  const service = await ownService()
  await create(service, { task: 1 }, 'jobs')
  for (const crash of ['process.exit()', '']) {
    const change = (text: string) =>
      text.replace('// After an error, the job', `${crash} //`).replace('60_000', '1')
    assert.deepEqual(await work(service, change), ['1\n'])
  }
  const left = itemsOf(await service.call('GET', '/items'))
  assert.deepEqual(
    left.map((item) => item.project_id),
    ['results'],
  )
})

const testing = snippetsOf('docs/how-to/testing.md')

test('docs/how-to/testing.md: GitHub accepts the workflow', () => {
  const workflow = testing.find(({ language }) => language === 'yaml') ?? assert.fail()
  assert.deepEqual(workflowErrors(workflow.text), [])
})

test('docs/how-to/testing.md: Cypress gets tasks, an address and a token', async () => {
  const config = testing.find(({ text }) => text.includes("from 'cypress'")) ?? assert.fail()
  const cwd = folderOf('docs/reference/embedding.md')
  const cypress = 'node_modules/cypress'
  mkdirSync(join(cwd, cypress))
  writeFileSync(join(cwd, cypress, 'index.mjs'), 'export const defineConfig = (config) => config')
  writeFileSync(join(cwd, cypress, 'package.json'), '{ "exports": "./index.mjs" }')
  writeFileSync(join(cwd, 'cypress.config.mjs'), config.text)
  const program = `
    import config from './cypress.config.mjs'
    let tasks
    const { env } = await config.e2e.setupNodeEvents((name, all) => { tasks = all }, {})
    const headers = { Authorization: 'Bearer ' + env.token }
    const list = async () => (await (await fetch(env.baseUrl + '/items', { headers })).json()).data.length
    const [id] = await tasks.seed([{ name: 'Ladder' }])
    console.log(id.length, await list(), await tasks.reset(), await list())
    process.exit()`
  writeFileSync(join(cwd, 'program.mjs'), program)
  assert.deepEqual(await runInShell(['node program.mjs'], { cwd }), ['36 1 null 0\n'])
})

test('docs/reference/embedding.md: the example prints what its comments say', async () => {
  const [{ text } = assert.fail()] = snippetsOf('docs/reference/embedding.md')
  const cwd = folderOf('docs/reference/embedding.md')
  writeFileSync(join(cwd, 'example.mjs'), text.replace('store.fail(', 'console.log(id)\n$&'))
  const [id, requests] = ['seed', 'log'].map(
    (call) => new RegExp(`${call}\\(.* // (.*?)(?: in each run)?\n`).exec(text)?.[1],
  )
  assert.deepEqual(await runInShell(['node example.mjs'], { cwd }), [`${id}\n${requests}\n`])
})

const control = 'docs/how-to/control.md'

programTest('jq', `${control}: the output is as shown`, async () => {
  const { sh } = snippetsBy(control, ['sh', 'json'])
  assertShown(snippetsOf(control), await runInShell(sh, { cwd: emptyFolder() }))
})

const killed = 'the store stops when the script that started it is killed'
programTest('jq', `${control}: ${killed}`, async () => {
  const [start] = snippetsBy(control, ['sh', 'json']).sh
  const script = startInShell(`${start}\necho "[$url]"\nkill -9 $$`, { cwd: emptyFolder() })
  assert.deepEqual(await script.ended(), [null, 'SIGKILL'])
  await untilGone(/\[(.*)\]/.exec(await script.printed(/\[.*\]/))?.[1] ?? '')
})

test('docs/how-to/dev.md: a db.json becomes items, except for values that are no objects', async () => {
  const guide = 'docs/how-to/dev.md'
  const convert = snippetsBy(guide, ['js', 'sh', 'json', '']).sh.at(-1) ?? ''
  const numbers = '"big":12345678901234567890,"price":1.10,"far":1e400'
  const db = `{
    "$schema": "./node_modules/json-server/schema.json", "none": null, "count": 1.0,
    "posts": [{ "id": "1", "title": "a title", "views": 100, ${numbers} }, "a text", null, 5],
    "comments": [{ "id": 7, "text": "a comment", "postId": "1", "constructor": [{}] }],
    "profile": { "name": "typicode" }
  }`
  const cwd = folderOf(guide)
  writeFileSync(join(cwd, 'db.json'), db)
  const service = await serveInShell(convert, { cwd })
  const { text } = await service.call('GET', '/items')
  assert.deepEqual(text.match(/(?<=","project_id":).*?(?=},{"id"|}]})/g), [
    `"posts","title":"a title","views":100,${numbers},"oldId":"1"`,
    '"comments","text":"a comment","postId":"1","constructor":[{}],"oldId":7',
    '"profile","name":"typicode"',
  ])
  const inService = (text: string) => text.replace('localhost:8000', service.baseUrl.host)
  const place = { cwd: folderOf(guide, inService), env: accessTo(service) }
  assert.deepEqual(await runInShell(['node list.mjs'], place), ['1 a title 0 1\n'])
})

const conformance = 'docs/how-to/conformance.md'
const compared = rowsUnder(readText(conformance), '| request | FastAPI | this service |')
const { request: send, validToken } = await ownService()

test(`${conformance}: each request in the table gets the response that it shows`, async () => {
  assert.ok(compared.length > 0)
  for (const row of compared) {
    const [request = '', , answer = ''] = row.slice(2, -2).split(' | ')
    const [, method = '', path = '', body] = /^`(\w+) (\S+)`(?: `(.*)`)?$/.exec(request) ?? []
    const options = { token: validToken(), ...(body === undefined ? {} : { body }) }
    const { status, headers, text } = await send(method, path, options)
    const whole = `${status}${JSON.stringify(headers)}${text}`
    assert.ok(whole.startsWith(answer.slice(0, 3)), `${row}: ${whole}`)
    for (const [, part = ''] of answer.matchAll(/`([^`]*)`/g)) {
      assert.ok(whole.includes(part), `${row}: ${whole}`)
    }
  }
})

programTest('uvicorn', `${conformance}: reports the failures of a Python service`, async () => {
  const { sh } = snippetsBy(conformance, ['sh', 'text'])
  const folder = emptyFolder()
  const cwd = join(folder, 'project')
  mkdirSync(cwd)
  symlinkSync(root, join(folder, 'item-store'))
  const port = String(await freePort())
  const local = sh.map((text) => text.replaceAll('8001', port))
  const outputs = await runInShell(local, { cwd, env: { PYTHONDONTWRITEBYTECODE: '1' } })
  assertShown(snippetsOf(conformance), outputs)
  const report = readFileSync(join(cwd, 'report.tap'), 'utf8')
  assert.ok(Number(/^# pass (\d+)$/m.exec(report)?.[1]) > 100, report)
})

const processes = 'docs/how-to/processes.md'
test(`${processes}: items are exported and imported with all digits, each only once`, async () => {
  const commands = snippetsOf(processes).filter(({ language }) => language === 'sh')
  const [, exportItems = '', importItems = ''] = commands.map(({ text }) => text)
  const [old, other] = [await ownService(), await ownService()]
  const members = ['"text":"with \\"quotes\\", [ and ]\\n","n":1.10', '"big":12345678901234567890']
  for (const text of members) {
    const body = `{"project_id":"one","data":{${text}}}`
    await old.request('POST', '/items', { token: old.validToken(), body })
  }
  const cwd = folderOf(processes)
  await runInShell([exportItems], { cwd, env: accessTo(old) })
  await runInShell([importItems, importItems], { cwd, env: accessTo(other) })
  const { text } = await other.call('GET', '/items')
  for (const each of members)
    assert.equal(text.split(`,"project_id":"one",${each}}`).length, 2, text)
})
