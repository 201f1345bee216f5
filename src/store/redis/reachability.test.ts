import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'
import { pino } from 'pino'
import { NotConnectedError } from './errors.js'
import { createReachabilityLog, type Reachability, settlingTime } from './reachability.js'

mock.timers.enable({ apis: ['setTimeout'] })

const lines: unknown[] = []
let reachability: Reachability
beforeEach(() => {
  lines.length = 0
  const write = (line: string) => {
    const { msg, cause, server } = JSON.parse(line)
    lines.push(cause === undefined ? msg : [msg, cause, server])
  }
  reachability = createReachabilityLog(pino({}, { write }))
})

const [lost, still] = ['the store cannot be reached', 'the store still cannot be reached']
const back = 'the store can be reached again'
const [one, other] = [new Error('one'), new Error('other')]

test('the log has a line when the store is lost, one for each new cause or server, and one when it is back', () => {
  reachability.found()
  mock.timers.tick(settlingTime)
  for (const error of [one, one, other, one, new NotConnectedError(other)]) reachability.lost(error)
  for (const server of ['a:1', 'a:1']) reachability.lost(one, server)
  reachability.found()
  reachability.found()
  mock.timers.tick(settlingTime)
  const causes = [
    [lost, 'one', undefined],
    [still, 'other', undefined],
    [still, 'one', 'a:1'],
    back,
  ]
  assert.deepEqual(lines, causes)
  reachability.lost(one)
  assert.deepEqual(lines.slice(4), [[lost, 'one', undefined]])
})

test('the log reports a store as back only once its connection has lasted for the settling time', () => {
  reachability.lost(one)
  for (let n = 0; n < 10; n += 1) {
    reachability.found()
    mock.timers.tick(settlingTime - 1)
    reachability.lost(one)
    mock.timers.tick(settlingTime)
  }
  assert.equal(lines.length, 1)
  reachability.found()
  mock.timers.tick(settlingTime)
  assert.deepEqual(lines.slice(1), [back])
})
