import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { mock, test } from 'node:test'
import { pino } from 'pino'
import { ApiError } from '../interface/errors.js'
import type { Connection } from '../listener/connection.js'

// The timers must be mocked before the imports: the service keeps those that it finds when it's loaded.
mock.timers.enable({ apis: ['setInterval'] })
const { Exchange } = await import('./exchange.js')
const { createFailureLog, createRequestLog } = await import('./request-log.js')

function anExchange(headers: Record<string, string> = {}) {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: '192.0.2.1' })
  const request = new IncomingMessage(socket)
  Object.assign(request, { method: 'GET', url: '/a?secret', headers })
  const response = new ServerResponse(request)
  return new Exchange(response, {} as Connection, {} as ConstructorParameters<typeof Exchange>[2]) // logging uses neither
}

function captured() {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => lines.push(JSON.parse(line))
  return { lines, log: pino({ level: 'debug', base: null }, { write }) }
}

test('the log line of a request has the session id, method, path, status, client, caller and milliseconds', () => {
  const { lines, log } = captured()
  const logRequest = createRequestLog(log, 'debug')
  const exchange = anExchange()
  exchange.startedAt = performance.now() - 5000
  exchange.token = { sub: 'somebody', exp: 9e9 }
  exchange.errorCode = 'BAD_REQUEST'
  exchange.response.statusCode = 400
  logRequest(exchange)
  const { ms, time, level, ...fields } = lines[0] ?? {}
  assert.deepEqual(fields, {
    ...{ session_id: exchange.sessionId, method: 'GET', path: '/a', status: 400 },
    ...{ error_code: 'BAD_REQUEST', client: '192.0.2.1', sub: 'somebody', msg: 'answered' },
  })
  assert.equal(level, pino.levels.values.debug)
  assert.ok(Number(ms) >= 5000 && Number(ms) < 600_000, `${ms} ms`)
  assert.match(String(ms), /^\d+(\.\d{1,3})?$/)
})

const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const later = `${trace.replace('00-', 'cc-')}-what-the-future-will-be`
for (const given of [trace, later, trace.toUpperCase(), `${trace}\n`]) {
  const isLogged = [trace, later].includes(given)
  test(`traceparent ${JSON.stringify(given)} is ${isLogged ? '' : 'not '}logged`, () => {
    const { lines, log } = captured()
    createRequestLog(log, 'info')(anExchange({ traceparent: given }))
    assert.equal(lines[0]?.traceparent, isLogged ? given : undefined)
  })
}

test('a failure is logged at once if there was none of its kind within the last second', () => {
  const { lines, log } = captured()
  const { logFailure, end } = createFailureLog(log)
  const fail = () => {
    const exchange = anExchange()
    logFailure(exchange, new ApiError('STORE_FULL', 'The store is full'))
    return exchange.sessionId
  }
  const [first, , third] = [fail(), fail(), fail()]
  assert.equal(lines.length, 1)
  mock.timers.tick(999)
  assert.equal(lines.length, 1)
  mock.timers.tick(1)
  const logged = lines.map(({ count, session_id }) => `${count} ${session_id}`)
  assert.deepEqual(logged, [`1 ${first}`, `2 ${third}`])
  fail()
  assert.equal(lines.length, 2)
  mock.timers.tick(1000)
  assert.equal(lines.length, 3)
  mock.timers.tick(1000)
  fail()
  assert.equal(lines.length, 4)
  end()
  assert.equal(lines.length, 4)
})

test('failures with different messages have separate lines, and after `end`, every failure has a line of its own', () => {
  const { lines, log } = captured()
  const { logFailure, end } = createFailureLog(log)
  for (const [message, cause] of [['Full', 'a'], ['Full', 'b'], ['Fuller']] as const)
    logFailure(anExchange(), new ApiError('STORE_FULL', String(message), { cause }))
  const logged = () => lines.map(({ msg, cause, count }) => `${msg} ${cause} ${count}`)
  assert.deepEqual(logged(), ['Full a 1', 'Fuller undefined 1'])
  assert.ok(lines.every(({ err }) => err === undefined))
  end()
  assert.equal(logged()[2], 'Full b 1')
  for (let time = 0; time < 3; time += 1)
    logFailure(anExchange(), new ApiError('STORE_FULL', 'Full'))
  assert.equal(lines.length, 6)
})
