/** A version of Node.js without the internals that the listener replaces is named in one line. */

import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { nodeProblem } from './node-internals.js'

test('this version of Node.js has them', () => {
  assert.equal(nodeProblem(), undefined)
})

test('one that lacks some is refused with their names', () => {
  const { prototype }: { prototype: { destroySoon?: unknown } } = Socket
  const { destroySoon } = prototype
  delete prototype.destroySoon
  try {
    const problem = `Node.js ${process.version} is not supported: it lacks socket.destroySoon`
    assert.equal(nodeProblem(), problem)
  } finally {
    prototype.destroySoon = destroySoon
  }
})
