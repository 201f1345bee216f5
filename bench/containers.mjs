/** `node bench/containers.mjs`: measures how much memory a container needs for how many items. */

import { makeReady } from '../scripts/ready.mjs'

makeReady()
// What is measured exists only now.
await import('./containers/command.mjs')
