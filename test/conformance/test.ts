/** Runs a conformance test, and throws a `Finding` if the test fails. */

import { test as nodeTest } from 'node:test'
import { show, shownExchange } from './exchanges.js'
import { Finding } from './finding.js'

const isNamed = Boolean(process.env.BASE_URL)

/** @param title starts with the spec clauses that the test checks. */
export function test(title: string, check: () => void | Promise<void>): void {
  nodeTest(title, async () => {
    show(undefined)
    try {
      await check()
    } catch (error) {
      throw new Finding(error, shownExchange(), !isNamed)
    }
  })
}
