/** `npm run bench:replicas`: compares stores and numbers of processes, and records the results. */

import { makeReady } from '../scripts/ready.mjs'
import { installPeers } from './lib/install.mjs'

makeReady()
installPeers()
// What the rest imports exists only now.
await import('./replicas/command.mjs')
