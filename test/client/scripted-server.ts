/** Test servers that send given responses, valid or not, and clients for them. */

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { after } from 'node:test'
import {
  type CallOptions,
  ItemStoreClient,
  type ItemStoreClientOptions,
  ItemStoreError,
} from '../../src/client/client.js'
import { listen } from '../support/process.js'

export async function errorOf(call: Promise<unknown>): Promise<ItemStoreError> {
  const error = await call.then(
    () => assert.fail('the call did not fail'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof ItemStoreError, String(error))
  return error
}

export type Step = (response: ServerResponse, request: IncomingMessage) => void

type Seen = Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { readonly body: string }

/**
 * Starts a server that handles each request with the next step, and all further requests with the last one. `ended`
 * counts the responses that were completed or cancelled.
 */
export async function scriptedServer(steps: readonly Step[], port = 0) {
  const seen: Seen[] = []
  const ended = { count: 0 }
  const server = createServer(async (request, response) => {
    let body = ''
    try {
      for await (const part of request.setEncoding('utf8')) body += part
    } catch {
      return // the client has closed the connection
    }
    const { method, url, headers } = request
    seen.push({ method, url, headers, body })
    response.on('close', () => {
      ended.count += 1
    })
    const step = steps[seen.length - 1] ?? steps.at(-1)
    step?.(response, request)
  })
  const listeningPort = await listen(server, port)
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { baseUrl: `http://127.0.0.1:${listeningPort}/api/v1`, seen, ended }
}

export async function scriptedClient(
  steps: readonly Step[],
  options: Partial<ItemStoreClientOptions> = {},
) {
  const { baseUrl, ...server } = await scriptedServer(steps)
  return { client: new ItemStoreClient({ baseUrl, token: 'a.b.c', ...options }), ...server }
}

export function answers(status: number, body: unknown, headers: Record<string, string> = {}): Step {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return (response) => {
    response.writeHead(status, headers).end(text)
  }
}

export const unknownId = '00000000-0000-4000-8000-000000000000'
export const item = { id: '0b8e5c3e-6d2c-4f0e-9f57-3f1f6b2f7a11', project_id: null, title: 'a' }

export type Call = (client: ItemStoreClient, options?: CallOptions) => Promise<unknown>

export const calls = {
  create: (client, options) => client.create({}, options),
  createText: (client, options) => client.createText('{}', options),
  get: (client, options) => client.get(item.id, options),
  getText: (client, options) => client.getText(item.id, options),
  list: (client, options) => client.list(options),
  listText: (client, options) => client.listText(options),
  items: (client, options) => client.items(options).next(),
  replace: (client, options) => client.replace(item.id, {}, options),
  replaceText: (client, options) => client.replaceText(item.id, '{}', options),
  update: (client, options) => client.update(item.id, () => ({}), options),
  watch: (client, options) => client.watch(item.id, options).next(),
  'watch of the list': (client, options) => client.watch(options).next(),
  delete: (client, options) => client.delete(item.id, options),
  health: (client, options) => client.health(options),
} satisfies Record<string, Call>

const envelope = { session_id: 's', status: 'success', message: 'm' }
export const oneItem = answers(200, { ...envelope, data: item })
export const listOfOne = answers(200, { ...envelope, data: [item] })
export const noContent = answers(204, '')
export const notFound = answers(404, { detail: { detail: 'Item not found', session_id: 's' } })

export function unavailable(code = 'SERVICE_UNAVAILABLE', headers?: Record<string, string>): Step {
  return answers(503, { detail: { detail: 'later', session_id: 's', error_code: code } }, headers)
}

export const drops: Step = (response) => {
  response.socket?.destroy()
}

export const dropsHalfway: Step = (response) => {
  response.writeHead(200, { 'content-length': 1000, 'x-session-id': 's' })
  response.write('{"session_id":"s","data":[{"id":"1","project_id":null},{"id"', () => {
    response.socket?.destroy()
  })
}

export const stalls: Step = (response) => {
  response.writeHead(200).write('{"session_id":"s","data":[')
}

export const hangs: Step = () => undefined
