/** Runs a conformance test, and reports its failure as a `Finding`. */

import { test as nodeTest } from 'node:test'
import { show, shownExchange } from './exchanges.js'
import { Finding } from './finding.js'

const isNamed = Boolean(process.env.BASE_URL)

/** @param title begins with the tested clauses of the specification. */
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
