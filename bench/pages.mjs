/** `npm run bench:pages`: measures the pages in Chromium, and records the results. */

import { installTestTools, makeReady } from '../scripts/ready.mjs'

makeReady()
installTestTools()
// What the rest imports exists only now.
await import('./pages/command.mjs')
