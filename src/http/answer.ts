/**
 * Writes answers: the one place where a response leaves the service.
 *
 * Answers go straight to Node's response object. Fastify's own `send` costs a seventh of the
 * throughput (bench/CHOICES.md) for serialisers and hooks that this service has no use for.
 *
 * @module
 */

import type { FastifyReply } from 'fastify'
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
  reply.raw.end(text)
}

/** Answers without a body. */
export function answerEmpty(reply: FastifyReply, status: number, headers = noHeaders): void {
  closeIfDraining(reply)
  reply.raw.writeHead(status, [sessionHeader, reply.request.id, ...corsHeaders, ...headers])
  reply.raw.end()
}

/** Sends the head of a JSON answer whose body, `length` bytes long, the caller writes. */
export function startJson(
  reply: FastifyReply,
  status: number,
  length: number,
  headers = noHeaders,
): void {
  closeIfDraining(reply)
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

function closeIfDraining(reply: FastifyReply): void {
  if (reply.server.draining) reply.raw.shouldKeepAlive = false
}
