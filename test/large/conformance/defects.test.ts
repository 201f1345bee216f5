/** The conformance tests find each defect of an implementation, and nothing wrong in what is left open. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conformanceOf } from '../../support/conformance.js'
import { defects } from './defects.js'
import { clausesIn, findsDefects } from './find-defects.js'
import { smallService } from './small-service.js'

test('item-store conformance ends with exit code 1, and names the clause, for a defect', async () => {
  const [first] = defects
  assert.ok(first !== undefined)
  const { status, failed } = await conformanceOf(await smallService(first.defect))
  assert.equal(status, 1)
  assert.ok(failed.flatMap(clausesIn).includes(first.clause), failed.join('\n'))
})

test('item-store conformance passes a service that differs in what is left open', async () => {
  const { status, passed, failed } = await conformanceOf(await smallService())
  assert.deepEqual({ status, failed }, { status: 0, failed: [] })
  // Each clause that is tested has an implementation that breaks it.
  const tested = new Set(passed.flatMap(clausesIn))
  assert.ok(tested.size > 30, `only ${tested.size} clauses`)
  assert.deepEqual(new Set(defects.map(({ clause }) => clause)), tested)
})

findsDefects(/^§[12]\b/)
