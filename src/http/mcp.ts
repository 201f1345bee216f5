/** Serves tools to agents by the Model Context Protocol, JSON-RPC 2.0 over HTTP. @module */

import type { IncomingHttpHeaders } from 'node:http'
import { URL } from 'node:url'
import { version } from '../config/package.js'
import { ApiError, type ErrorCode } from '../interface/errors.js'
import type { HeaderList } from '../interface/paths.js'
import type { ArrivingBody } from '../item/item-request.js'
import { memoryOf } from '../memory/read-memory.js'
import { kibibyte } from '../memory/shares.js'
import type { Awaitable } from '../store/item-store.js'
import { answerEmpty, sendChunks, writeJsonHead } from './answer.js'
import type { ReadBody } from './body.js'
import type { Exchange, Handler } from './exchange.js'
import { type ItemOperations, itemIdOf, itemIn } from './items.js'
import { isObject, type JsonObject, RpcError, readMessage } from './mcp-message.js'
import {
  argumentsOf,
  currentTexts,
  itemTexts,
  listedTools,
  type Texts,
  tools,
} from './mcp-tools.js'
import { inPortions } from './pacing.js'
import { keyedName } from './parameters.js'

const stateless = '2026-07-28' // the version of the protocol in which each request describes itself
const initialized = ['2025-11-25', '2025-06-18'] // versions with `initialize`, the latest first
const supportedVersions = [stateless, ...initialized]

const prefix = 'io.modelcontextprotocol/'
const serverInfo = { name: 'item-store', version }
const about = {
  capabilities: { tools: {} },
  instructions:
    'A store of JSON items that several agents and programs share. Each item has a tag, which changes with it: pass the tag as if_match, and no change is lost.',
}
const caching = { ttlMs: 300_000, cacheScope: 'public' } // five minutes: an update may bring other tools
const localHosts = ['localhost', '127.0.0.1', '[::1]'] // other pages may be here by DNS rebinding
const sliceBytes = 64 * kibibyte

/** Messages for agents, which can't see the headers that the usual messages refer to. */
const conflicts: Readonly<Partial<Record<ErrorCode, string>>> = {
  IDEMPOTENCY_CONFLICT: 'This key belongs to another item; the current item and its tag follow',
  PRECONDITION_FAILED:
    'The item has another tag than if_match; the current item and its tag follow',
}

export function createMcpHandler(operations: ItemOperations, readBody: ReadBody): Handler {
  return async function answerMessage(exchange) {
    const reply = new Reply(exchange)
    exchange.answerError = (error) => reply.error(error)
    const { origin } = exchange.request.headers
    if (origin && !(URL.canParse(origin) && localHosts.includes(new URL(origin).hostname)))
      throw new RpcError(403, -32600, 'Only web pages on this machine may use the tools')
    const answer = await readBody(exchange, (body) => receive(exchange, body, reply))
    await answer()
  }

  /** Reads a message, and returns a function that answers it. */
  function* receive(exchange: Exchange, body: ArrivingBody, reply: Reply) {
    const { members, id, call } = yield* readMessage(body)
    const { method, params = {} } = members
    if (id === '' && typeof method === 'string')
      return () => answerEmpty(exchange, 202, ['Content-Length', '0'])
    if (typeof members.id !== 'string' && typeof members.id !== 'number')
      throw new RpcError(400, -32600, 'id must be a string or a number')
    reply.id = id
    if (members.jsonrpc !== '2.0' || typeof method !== 'string' || !isObject(params))
      throw new RpcError(400, -32600, 'jsonrpc must be "2.0", method a string and params an object')
    reply.isStateless = isStateless(exchange.request.headers, method, params)
    if (method !== 'tools/call') {
      const result = resultOf(method, params, reply.isStateless)
      return () => reply.send(200, 'result', result)
    }
    const tool = typeof params.name === 'string' ? tools.get(params.name) : undefined
    if (tool === undefined) throw new RpcError(200, -32602, 'There is no tool of this name')
    reply.isCall = true
    const given = argumentsOf(tool, params.arguments)
    exchange.segment = given.id ?? ''
    if ('run' in tool)
      return () => runCall(exchange, reply, () => tool.run(operations, exchange, given))
    const name = keyedName(exchange, given.key)
    const accountFor = (workBytes: number) => body.accountFor(workBytes)
    const part = { bytes: call, length: call.length, isComplete: true, accountFor }
    const idOf = () => (given.id ? itemIdOf(exchange) : operations.newId(exchange, name))
    const item = yield* itemIn(part, idOf)
    exchange.segment = item.id
    return () =>
      runCall(exchange, reply, async () => {
        await tool.store(operations, exchange, item, given)
        return itemTexts(item)
      })
  }

  /** Answers a call. After a conflict, the agent also gets the current item. */
  async function runCall(exchange: Exchange, reply: Reply, run: () => Promise<Texts>) {
    try {
      await reply.texts(await run())
    } catch (error) {
      if (!(error instanceof ApiError && error.code && error.code in conflicts)) throw error
      exchange.errorCode = error.code
      await reply.texts([errorText(error), ...(await currentTexts(operations, exchange))], true)
    }
  }
}

/** Returns whether a message uses the stateless protocol, without `initialize`. @throws {RpcError} if used wrongly. */
function isStateless(headers: IncomingHttpHeaders, method: string, params: JsonObject): boolean {
  const { 'mcp-protocol-version': header } = headers
  const meta = isObject(params._meta) ? params._meta : {}
  const claimed = meta[`${prefix}protocolVersion`]
  const version = claimed ?? (method === 'initialize' && header !== stateless ? undefined : header)
  const isOld = initialized.includes(String(version)) && header !== stateless
  if (version === undefined || isOld) return false
  requireHeader('MCP-Protocol-Version', version)
  if (version !== stateless) {
    const data = { supported: supportedVersions, requested: version }
    throw new RpcError(400, -32022, 'Unsupported protocol version', data)
  }
  if (typeof claimed !== 'string' || !isObject(meta[`${prefix}clientCapabilities`])) {
    const names = `${prefix}protocolVersion and ${prefix}clientCapabilities`
    throw new RpcError(400, -32602, `params._meta must have ${names}`)
  }
  requireHeader('Mcp-Method', method)
  if (method === 'tools/call') requireHeader('Mcp-Name', params.name)
  return true

  function requireHeader(name: string, value: unknown): void {
    const text = headers[name.toLowerCase()]?.toString()
    const encoded = /^=\?base64\?(.*)\?=$/.exec(text ?? '')?.[1]
    if ((encoded === undefined ? text : Buffer.from(encoded, 'base64').toString()) === value) return
    throw new RpcError(400, -32020, `The header ${name} is missing, or differs from the message`)
  }
}

/** Returns the result of any method but `tools/call`. @throws {RpcError} for an unknown one. */
function resultOf(method: string, params: JsonObject, isStateless: boolean): object {
  if (method === 'tools/list') return { tools: listedTools, ...(isStateless ? caching : {}) }
  if (isStateless && method === 'server/discover')
    return { supportedVersions, ...about, ...caching }
  if (!isStateless && method === 'ping') return {}
  if (isStateless || method !== 'initialize')
    throw new RpcError(isStateless ? 404 : 200, -32601, 'There is no such method')
  const [latest] = initialized
  const protocolVersion = initialized.find((each) => each === params.protocolVersion) ?? latest
  return { protocolVersion, ...about, serverInfo }
}

function errorText({ message, code }: ApiError): string {
  return JSON.stringify({ detail: (code && conflicts[code]) ?? message, error_code: code })
}

/** The response to a message, as Latin-1 text: one character for each byte of UTF-8. */
class Reply {
  readonly #exchange: Exchange
  id = '' // JSON text, as it was sent; empty if unknown
  isStateless = false
  isCall = false // from then on, errors are for the agent, as results of its call

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  error(error: ApiError): void {
    const { message, status, headers, code: error_code } = error
    if (this.isCall) return void this.texts([errorText(error)], true)
    const code = status < 500 ? -32600 : -32603
    const sent = error instanceof RpcError ? error.sent : { code, message, data: { error_code } }
    this.send(status, 'error', sent, headers)
  }

  texts(texts: Texts, isError = false): Awaitable<void> {
    const opening = this.#textOf('result', { isError, content: [] }).slice(0, -3)
    const buffers = texts.map((text) => (typeof text === 'string' ? Buffer.from(text) : text))
    for (const each of buffers) this.#exchange.countUntilClosed(memoryOf(each))
    if (!writeJsonHead(this.#exchange, 200, undefined)) return
    const list = { byteLength: undefined, chunks: inPortions(piecesOf(opening, buffers)) }
    return sendChunks(this.#exchange, '', list, '')
  }

  send(status: number, member: 'result' | 'error', value: object, headers?: HeaderList): void {
    const text = this.#textOf(member, value)
    const { response, connection } = this.#exchange
    if (writeJsonHead(this.#exchange, status, text.length, headers))
      connection.batch.end(response, text)
  }

  #textOf(member: 'result' | 'error', value: object): string {
    const own = { resultType: 'complete', _meta: { [`${prefix}serverInfo`]: serverInfo } }
    const isOwn = this.isStateless && member === 'result'
    const text = Buffer.from(JSON.stringify(isOwn ? { ...own, ...value } : value))
    const id = this.id && `"id":${this.id},`
    return `{"jsonrpc":"2.0",${id}"${member}":${text.toString('latin1')}}`
  }
}

function* piecesOf(opening: string, texts: readonly Buffer[]): Iterable<Buffer> {
  yield Buffer.from(opening, 'latin1')
  for (const [place, text] of texts.entries()) {
    yield Buffer.from(`${place > 0 ? '"},' : ''}{"type":"text","text":"`)
    for (let at = 0; at < text.length; at += sliceBytes) {
      const piece = text.toString('latin1', at, at + sliceBytes)
      yield Buffer.from(JSON.stringify(piece).slice(1, -1), 'latin1')
    }
  }
  yield Buffer.from('"}]}}')
}
