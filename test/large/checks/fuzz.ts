/**
 * `npm run check -- fuzz --minutes 60`: arbitrary conversations with services that have a small heap and few
 * descriptors, 200 with each. Ends with code 1 at the first finding, and prints how to replay it:
 * `npm run check -- fuzz --seed N --path P`. `--seed N` alone starts there.
 */

import { parseArgs } from 'node:util'
import { positive, say } from '../../support/report.js'
import { fuzz } from '../fuzz/fuzz.js'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    conversations: { type: 'string', default: 'Infinity' }, // ends after as many
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    path: { type: 'string' },
  },
})
const end = Date.now() + positive('minutes', values.minutes) * 60_000
const most = positive('conversations', values.conversations)
const firstSeed = Number(values.seed)
if (!Number.isSafeInteger(firstSeed)) {
  throw new Error(`--seed is "${values.seed}"; expected an integer`)
}

const totals = { conversations: 0, requests: 0, statuses: new Map<number, number>() }
let finding: string | undefined
const isOver = () => Date.now() >= end || totals.conversations >= most
for (let seed = firstSeed; finding === undefined && !isOver(); seed += 1) {
  const count = Math.min(200, most - totals.conversations)
  const result = await fuzz({ seed, path: values.path, conversations: count })
  finding = result.finding
  totals.conversations += result.conversations
  totals.requests += result.requests
  for (const [status, answers] of result.statuses) {
    totals.statuses.set(status, (totals.statuses.get(status) ?? 0) + answers)
  }
  const { conversations, requests } = totals
  say(`seeds ${firstSeed} to ${seed}: ${conversations} conversations, ${requests} requests`)
  if (values.path !== undefined) break
}
const counts = [...totals.statuses].sort(([a], [b]) => a - b)
say(`answers by status: ${counts.map(([status, count]) => `${status}: ${count}`).join(', ')}`)
say(finding === undefined ? 'no finding' : `FOUND: ${finding}`)
process.exit(finding === undefined ? 0 : 1)
