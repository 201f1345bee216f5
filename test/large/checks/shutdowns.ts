/**
 * `npm run check -- shutdowns --count 500`: as many services, each told to stop while clients pipeline
 * creates without end. Ends with code 1 if a service created an item and its client did not get all of the
 * response, or if the last response on a connection did not say that it is the last.
 */

import { randomNumbers } from '../../support/random.js'
import { shutDownUnderCreates } from '../reliability/endless-creates.js'
import { numbers, say } from './report.js'

const { count } = numbers({ count: 500 })

const random = randomNumbers()
let created = 0
let lost = 0
let bad = 0
for (let round = 1; round <= count; round += 1) {
  const options = {
    connections: 1 + random(8),
    textLength: [0, 300, 3_000, 30_000][random(4)] ?? 0,
    after: 20 + random(300),
  }
  const result = await shutDownUnderCreates(options)
  created += result.created
  lost += result.created - result.answered
  if (result.problems.length > 0) {
    bad += 1
    say(`shutdown ${round}, ${JSON.stringify(options)}: ${result.problems.join('; ')}`)
  }
  if (round % 50 === 0) say(`${round} shutdowns, ${created} creates, ${lost} responses lost`)
}
say(
  `${count} shutdowns, ${bad} of them not as expected; ${created} creates, ${lost} responses lost`,
)
process.exit(bad === 0 ? 0 : 1)
