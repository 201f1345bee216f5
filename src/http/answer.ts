/**
 * Writes answers: the one place where a response leaves the service.
 *
 * Answers go straight to Node's response object. Fastify's own `send` costs a seventh of the
 * throughput (bench/CHOICES.md) for serialisers and hooks that this service has no use for.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { latestResponse } from './pipelining.js'
import { sessionHeader } from './session.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the service is about to stop, so that every answer closes its connection. */
    draining: boolean
  }
}

/** Header names and values in turn, as Node takes them at no further cost. */
export type HeaderList = readonly string[]

/** Headers on every answer: a browser hides the body and all other headers without them. */
export const corsHeaders: HeaderList = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  `${sessionHeader}, WWW-Authenticate, Allow, Retry-After`,
]

const noHeaders: HeaderList = []

/** Answers with a value as JSON text. For small bodies that the service makes up itself. */
export function answerJson(
  reply: FastifyReply,
  status: number,
  body: unknown,
  headers = noHeaders,
): void {
  const text = Buffer.from(JSON.stringify(body))
  startJson(reply, status, text.length, headers)
  endAnswer(reply.raw, text)
}

/** Answers without a body. */
export function answerEmpty(reply: FastifyReply, status: number, headers = noHeaders): void {
  settleConnection(reply)
  reply.raw.writeHead(status, [sessionHeader, reply.request.id, ...corsHeaders, ...headers])
  endAnswer(reply.raw)
}

/** Sends the head of a JSON answer whose body, `length` bytes long, the caller writes. */
export function startJson(
  reply: FastifyReply,
  status: number,
  length: number,
  headers = noHeaders,
): void {
  settleConnection(reply)
  reply.raw.writeHead(status, [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(length),
    sessionHeader,
    reply.request.id,
    ...corsHeaders,
    ...headers,
  ])
}

interface Ready {
  readonly response: ServerResponse
  readonly body: string | Buffer
}

/** Answers that wait to be sent. */
let ready: Ready[] = []

/** More than this many are not kept waiting: it gains nothing, and the first would be late. */
const mostReady = 64

/**
 * Ends an answer, along with the others of this turn of the event loop. To handle one request after
 * the other, and then to send one answer after the other, takes a sixth less time for reads than doing
 * both in turn, and a third less for creates (bench/CHOICES.md): the processor's caches hold what each
 * of the two needs, and clients on the same machine are woken less often.
 * @param body a string stands for bytes, one in each character (Latin-1 to Node).
 */
export function endAnswer(response: ServerResponse, body: string | Buffer = ''): void {
  ready.push({ response, body })
  if (ready.length === 1) setImmediate(sendReady)
  if (ready.length === mostReady) sendReady()
}

function sendReady(): void {
  const answers = ready
  ready = []
  for (const { response, body } of answers) response.end(body, 'latin1')
}

/**
 * Decides whether the connection goes on behind this answer. Once the service is about to stop, the
 * answer to the last request that came in on a connection closes it.
 */
function settleConnection({ server, request, raw: response }: FastifyReply): void {
  if (server.draining && latestResponse(request.socket) === response) {
    response.shouldKeepAlive = false
  }
  if (!response.shouldKeepAlive && isBodyComing(request.raw)) closeBehindBody(response)
}

/** Whether a request has a body that has not come to its end yet (RFC 9112 §6). */
function isBodyComing({ complete, headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  const hasBody = headers['transfer-encoding'] !== undefined || (length ?? '0') !== '0'
  return hasBody && !complete
}

/**
 * Closes the connection behind the body that the client still sends, which is read and dropped. Closed
 * with the answer, it would be reset under the client, and the answer lost.
 */
function closeBehindBody(response: ServerResponse): void {
  response.shouldKeepAlive = true
  const { req: request } = response
  response.once('finish', () => {
    const close = () => request.socket.destroySoon()
    if (request.complete) close()
    else request.once('end', close)
  })
}
