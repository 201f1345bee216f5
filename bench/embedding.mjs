/** `npm run bench:embedding`: measures stores that are started inside of a process, and records the results. */

import { makeReady } from '../scripts/ready.mjs'

makeReady()
// What the rest imports exists only now.
await import('./embedding/command.mjs')
