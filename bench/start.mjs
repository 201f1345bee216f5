/** `npm run bench:start`: measures starts and idle memory against others, and records the results. */

import { makeReady } from '../scripts/ready.mjs'
import { installPeers } from './lib/install.mjs'

makeReady()
installPeers()
// What the rest imports exists only now.
await import('./start/command.mjs')
