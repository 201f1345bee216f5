/** A shutdown while clients pipeline creates without end, and whether all of them learn what was done. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type OwnService, ownService, withLimits } from '../../support/own-service.js'
import { answerReader, headerOf } from '../../support/raw-answers.js'
import { headOf } from '../../support/socket.js'

export interface ShutdownOptions {
  readonly connections: number
  /** Length of a text in each item. */
  readonly textLength: number
  /** How long the clients have been at it when the service is told to stop, in milliseconds. */
  readonly after: number
}

export interface ShutdownResult {
  /** Items in the store after the last request. */
  readonly created: number
  /** Complete responses that say so. */
  readonly answered: number
  /** What should not have been; nothing is expected here. */
  readonly problems: readonly string[]
}

/** How much a client writes at a time, in bytes. */
const burst = 128 * 1024

/** How long it may take until the service has stopped, in milliseconds; it is told to take 10 s at most. */
const endTimeout = 60_000

/** Starts a service and its clients, tells it to stop with SIGTERM, and counts. */
export async function shutDownUnderCreates(options: ShutdownOptions): Promise<ShutdownResult> {
  const own = await ownService({}, withLimits({}))
  const clients = Array.from({ length: options.connections }, () => startClient(own, options))
  await delay(options.after)
  own.child.kill('SIGTERM')
  const ends = await Promise.all(clients.map(({ ended }) => ended))
  const [code, signal] = await own.ended(endTimeout)
  const created = own.log.find(({ msg }) => msg === 'closing the store')?.items
  const answered = ends.reduce((sum, end) => sum + end.answered, 0)
  const problems = ends.flatMap((end) => end.problems)
  if (code !== 0) problems.push(`the service ended with ${signal ?? code}`)
  if (created !== answered) problems.push(`${created} items, ${answered} responses`)
  return { created: Number(created), answered, problems }
}

interface ClientEnd {
  readonly answered: number
  readonly problems: string[]
}

/** Writes creates for as long as the connection takes them, and reads all the time. */
function startClient(
  own: OwnService,
  { textLength }: ShutdownOptions,
): { ended: Promise<ClientEnd> } {
  const body = `{"data":{"text":"${'x'.repeat(textLength)}"}}`
  const request = headOf(own, 'POST', '/items', `Content-Length: ${body.length}`) + body
  const bytes = Buffer.from(request.repeat(Math.ceil(burst / request.length)))
  const socket = connect({ port: Number(own.baseUrl.port), host: '127.0.0.1' })
  const send = () => {
    while (socket.writable && socket.write(bytes));
  }
  socket.on('connect', send).on('drain', send)
  return { ended: countResponses(socket) }
}

/** Reads until the connection ends. */
async function countResponses(socket: Socket): Promise<ClientEnd> {
  const problems: string[] = []
  let seen = 0
  let answered = 0
  let isLast = false
  const reader = answerReader()
  socket.on('error', (error) => problems.push(error.message)) // the responses must come without a reset
  socket.on('data', (chunk: Buffer) => {
    reader.take(chunk)
    for (const { status, head } of reader.answers.slice(seen)) {
      seen += 1
      if (isLast) problems.push('a response after the last one')
      if (status === 201) answered += 1
      else problems.push(head.slice(0, head.indexOf('\r\n')))
      isLast = headerOf(head, 'connection') === 'close'
    }
  })
  await once(socket, 'close').catch(() => undefined) // the error is among the problems
  const { length } = reader.rest()
  if (length > 0) problems.push(`${length} bytes of a response that was cut short`)
  if (!isLast) problems.push('the last response has no Connection: close')
  return { answered, problems }
}
