import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { newItemId } from '../../item/id.js'
import { Watchers } from '../watchers.js'
import { createChanges } from './changes.js'

test('a watcher that is added during a poll is called for changes that the poll finds', async () => {
  const changes = createChanges(new Watchers(), {
    keys: [],
    keyOf: () => 'bucket',
    serverOf: undefined,
    states: { versionsOf: () => nextTurn(['1-a']) },
    read: () => assert.fail(),
  })
  const told: string[] = []
  changes.watch({ id: newItemId() }, () => told.push('first'))
  changes.watch({ id: newItemId() }, () => told.push('second'))
  while (told.length === 0) await nextTurn()
  changes.close()
  assert.deepEqual(told, ['first', 'second'])
})
