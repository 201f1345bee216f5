import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { nodeProblem } from './node-internals.js'

test('a version of Node.js that lacks internals is rejected', () => {
  const { prototype }: { prototype: { destroySoon?: unknown } } = Socket
  const { destroySoon } = prototype
  delete prototype.destroySoon
  try {
    const problem = `Node.js ${process.version} is not supported: its HTTP server has changed`
    assert.equal(nodeProblem(), problem)
  } finally {
    prototype.destroySoon = destroySoon
  }
})
