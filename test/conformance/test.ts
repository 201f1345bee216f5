/** A test whose failure is a finding. */

import { test as nodeTest } from 'node:test'
import { show, shownExchange } from './exchanges.js'
import { Finding } from './finding.js'

/** Whether the service is one that whoever runs the tests has named, and not started for them. */
const isNamed = Boolean(process.env.BASE_URL)

/** @param title begins with the clauses of the specification. */
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
