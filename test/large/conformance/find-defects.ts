/** Has the conformance tests find the defects of an implementation. */

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { type Conformance, clauseOf } from '../../support/conformance.js'
import { defects } from './defects.js'
import { smallService } from './small-service.js'

/** The clauses that the title of a test names. */
export function clausesIn(title: string): string[] {
  return title.match(/§\d+(\.\d+)?/g) ?? []
}

/**
 * Has a test for each defect: the tests of its clause fail. They are in two files, as there is a limit to the
 * time that one may take.
 */
export function findsDefects(of: RegExp): void {
  describe(`the conformance tests of ${of} fail for`, { concurrency: 4 }, () => {
    for (const clause of new Set(defects.map(({ clause }) => clause))) {
      if (of.test(clause)) describe(clause, () => findsDefectsOf(clause))
    }
  })
}

function findsDefectsOf(clause: string): void {
  const all = defects.filter((defect) => defect.clause === clause)
  let found: Conformance[] = []
  before(async () => {
    const services = all.map(({ defect }) => smallService(defect))
    found = await clauseOf(await Promise.all(services), clause)
  })
  for (const [n, { title }] of all.entries()) {
    test(title, () => {
      const { status, passed = [], failed = [] } = found[n] ?? {}
      assert.ok(failed.length > 0, `all pass: ${passed.join('\n')}`)
      assert.ok(failed.every((each) => clausesIn(each).includes(clause)))
      assert.equal(status, 1)
    })
  }
}
