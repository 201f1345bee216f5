/** `npm run bench`: compares the service with others on the same workloads, and records the results. */

import { makeReady } from '../scripts/ready.mjs'
import { installPeers } from './lib/install.mjs'

makeReady()
installPeers()
// What the rest imports exists only now.
await import('./compare/command.mjs')
