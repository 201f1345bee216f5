/** `npm run bench`: compares the service with others at the same works, and writes the results. */

import { makeReady } from '../scripts/ready.mjs'
import { installPeers } from './lib/install.mjs'

makeReady()
installPeers()
// Only now is everything there that the rest imports.
await import('./compare/command.mjs')
