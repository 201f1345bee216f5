/** `npm run bench:scale`: measures how the service behaves with many items, and records the results. */

import { makeReady } from '../scripts/ready.mjs'

makeReady()
// What is measured exists only now.
await import('./scale/command.mjs')
