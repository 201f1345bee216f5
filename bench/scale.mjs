/** `npm run bench:scale`: how the service behaves with many items, and writes the results. */

import { makeReady } from '../scripts/ready.mjs'

makeReady()
// Only now is everything there that is measured.
await import('./scale/command.mjs')
