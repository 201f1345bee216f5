/** `npm start`, `npm run dev`, `npm run token`: builds if needed, then runs the command. */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { makeReady, root } from './ready.mjs'

makeReady()
await import(pathToFileURL(join(root, 'dist/cli.js')).href)
