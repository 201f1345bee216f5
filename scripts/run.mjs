/** `npm start`, `npm run dev`, `npm run token`: builds if needed, then runs the command. */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { refuseBusyPort } from './busy-port.mjs'
import { isReady, makeReady, root } from './ready.mjs'

if (!isReady()) {
  await refuseBusyPort(process.argv.slice(2))
  makeReady()
}
await import(pathToFileURL(join(root, 'dist/cli.js')).href)
