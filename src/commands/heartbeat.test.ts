/** When a worker counts as stuck. */

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { beforeEach, mock, test } from 'node:test'
import { watchHeartbeat } from './heartbeat.js'

let worker: EventEmitter
let stuck: number

beforeEach(() => {
  mock.timers.reset()
  mock.timers.enable({ apis: ['setInterval'] })
  worker = new EventEmitter()
  stuck = 0
  watchHeartbeat(worker, () => {
    stuck += 1
  })
})

function pass(seconds: number): void {
  for (let second = 0; second < seconds; second += 1) mock.timers.tick(1_000)
}

test('one that says nothing for 30 s is stuck, which is told once', () => {
  worker.emit('message', 'beat')
  pass(29)
  assert.equal(stuck, 0)
  pass(1)
  assert.equal(stuck, 1)
  pass(100)
  assert.equal(stuck, 1)
})

test('one that is slow is not', () => {
  for (let time = 0; time < 10; time += 1) {
    worker.emit('message', 'beat')
    pass(29)
  }
  assert.equal(stuck, 0)
})

test('one that has said nothing yet is not', () => {
  pass(100)
  assert.equal(stuck, 0)
})

for (const event of ['disconnect', 'exit']) {
  test(`after ${event}, it is not watched any more`, () => {
    worker.emit('message', 'beat')
    worker.emit(event)
    pass(100)
    assert.equal(stuck, 0)
  })
}
