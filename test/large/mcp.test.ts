/** Tests the tools for agents with the official clients and the official conformance tests. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { itemOf, listed } from '../conformance/expect.js'
import { itemText } from '../decisions/expect.js'
import { ownService } from '../support/own-service.js'
import { listen } from '../support/process.js'
import { emptyFolder, requireTool, toolCommand } from '../support/tools.js'

const service = await ownService({ MCP: 'on' })
const url = new URL('/mcp', service.baseUrl)
const run = promisify(execFile)

interface Client {
  connect(transport: unknown): Promise<void>
  close(): Promise<void>
  listTools(): Promise<{ tools: { name: string; description: string }[] }>
  callTool(call: { name: string; arguments: object }): Promise<Result>
}

interface Result {
  readonly isError?: boolean
  readonly content: { readonly type: string; readonly text: string }[]
}

interface Library {
  readonly Client: new (info: object, options: object) => Client
  readonly StreamableHTTPClientTransport: new (url: URL, options: object) => unknown
}

const second: Library = requireTool('@modelcontextprotocol/client')
const first: Library = {
  ...requireTool('@modelcontextprotocol/sdk/client/index.js'),
  ...requireTool('@modelcontextprotocol/sdk/client/streamableHttp.js'),
}

const kinds: [kind: string, library: Library, options: object][] = [
  ['client 2, version 2026-07-28', second, { versionNegotiation: { mode: { pin: '2026-07-28' } } }],
  ['client 2, any version', second, { versionNegotiation: { mode: 'auto' } }],
  ['client 2, version 2025-11-25', second, {}],
  ['sdk 1.32', first, {}],
]

async function connected([kind, library, options]: (typeof kinds)[number]): Promise<Client> {
  const client = new library.Client({ name: kind, version: '1' }, options)
  const headers = { Authorization: `Bearer ${service.validToken()}` }
  await client.connect(new library.StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  after(() => client.close())
  return client
}

async function call(client: Client, name: string, args: object) {
  const result = await client.callTool({ name, arguments: args })
  const isError = result.isError === true
  const texts = result.content.map(({ text }) => text)
  const tag = /^tag: (.*)$/.exec(texts.at(-1) ?? '')?.[1] ?? ''
  return { isError, text: texts[0] ?? '', json: JSON.parse(texts[isError ? 1 : 0] ?? 'null'), tag }
}

for (const kind of kinds) {
  test(`all tools, with ${kind[0]}`, async () => {
    const client = await connected(kind)
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['list_items', 'get_item', 'create_item', 'replace_item', 'delete_item', 'wait_for_change'],
    )
    const project = kind[0]
    const created = await call(client, 'create_item', { data: { n: 1 }, project_id: project })
    const { id } = created.json
    const exact = '{"data":{"n":12345678901234567890,"f":1.0,"__proto__":{},"a":1}}'
    await service.request('PUT', `/items/${id}`, { token: service.validToken(), body: exact })
    const read = await call(client, 'get_item', { id })
    assert.equal(read.text, itemText(await service.call('GET', `/items/${id}`)))
    assert.ok(read.text.endsWith(exact.slice('{"data":{'.length, -1)))
    const waiting = call(client, 'wait_for_change', { id, tag: read.tag })
    const change = { id, data: { n: 2 }, project_id: project, if_match: read.tag }
    const replaced = await call(client, 'replace_item', change)
    assert.equal((await waiting).text, replaced.text)
    assert.deepEqual((await call(client, 'list_items', { project_id: project })).json, [
      { id, project_id: project, n: 2 },
    ])
    await client.callTool({ name: 'delete_item', arguments: { id, if_match: replaced.tag } })
    assert.equal((await service.call('GET', `/items/${id}`)).status, 404)
    await assert.rejects(client.callTool({ name: 'no_tool', arguments: {} }), /no tool/)
  })
}

test('ten clients create one item with one key, and increment its count 50 times each', async () => {
  const before = (await listed(service)).length
  const clients = await Promise.all(
    Array.from({ length: 10 }, (_, place) => connected(kinds[place % 4] ?? assert.fail())),
  )
  const created = await Promise.all(
    clients.map((client) => call(client, 'create_item', { data: { count: 0 }, key: 'once' })),
  )
  const [first = assert.fail()] = created
  for (const each of created) assert.equal(each.text, first.text)
  assert.equal((await listed(service)).length, before + 1)

  await Promise.all(
    clients.map(async (client) => {
      let current = first
      for (let step = 0; step < 50; step += 1) {
        do {
          const { json, tag } = current
          const args = { id: json.id, data: { count: json.count + 1 }, if_match: tag }
          current = await call(client, 'replace_item', args)
        } while (current.isError)
      }
    }),
  )
  assert.equal(itemOf(await service.call('GET', `/items/${first.json.id}`), 200).count, 500)
})

/** Adds a token to each request, because the conformance tests send none. */
const proxy = createServer((incoming, response) => {
  const headers = { ...incoming.headers, authorization: `Bearer ${service.validToken()}` }
  const { method = '' } = incoming
  const outgoing = request(url, { method, headers }, (answer) => {
    answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers))
  })
  incoming.pipe(outgoing)
})
after(() => proxy.close())
const proxyUrl = `http://localhost:${await listen(proxy)}/mcp`

// Scenarios for a server that has only tools. The others need the diagnostic tools of an example server, or prompts,
// resources, completions, logging, sampling, elicitation, tasks, or event streams, none of which we have.
const scenarios = {
  '2025-06-18': 'server-initialize ping tools-list',
  '2025-11-25': 'server-initialize ping tools-list dns-rebinding-protection',
  '2026-07-28':
    'server-stateless tools-list http-header-validation caching dns-rebinding-protection',
}

/** Why a check cannot succeed here: it needs a tool of the example server, or a feature that our server lacks. */
const inapplicable = /^Not testable: server does not list|^(?:prompts|resources)\/.* error -32601/

/** Lets the tests run on Node.js 20. They import `globSync`, which its `fs` lacks, but don't call it here. */
const withGlob = `import { register } from 'node:module'
register('data:text/javascript,' + encodeURIComponent(\`
  const fs = 'data:text/javascript,export * from "node:fs"; export const globSync = undefined'
  export const resolve = (name, context, next) =>
    name === 'fs' ? { url: fs, shortCircuit: true } : next(name, context)\`))`

const runs = Object.entries(scenarios).flatMap(([version, names]) =>
  names.split(' ').map((scenario) => [version, scenario] as const),
)
for (const [version, scenario] of runs) {
  test(`conformance with ${version}: ${scenario}`, async () => {
    const folder = emptyFolder()
    const preload = `--import=data:text/javascript,${encodeURIComponent(withGlob)}`
    const which = ['--scenario', scenario, '--spec-version', version]
    const args = ['server', '--url', proxyUrl, ...which, '--output-dir', folder]
    // The exit code is ignored: it's also an error if a check fails that doesn't apply here.
    await run(process.execPath, [preload, toolCommand('conformance'), ...args]).catch(() => {})
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const file = files.find((name) => name.endsWith('checks.json')) ?? assert.fail('no checks')
    const checks: Record<string, string>[] = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    const failed = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    const wrong = failed.filter(({ errorMessage = '' }) => !inapplicable.test(errorMessage))
    assert.deepEqual(wrong, [])
    assert.ok(checks.filter(({ status }) => status === 'SUCCESS').length > 0)
  })
}
