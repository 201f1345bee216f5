/** `npm start` and `npm run dev`: makes ready, then becomes the `item-store` command. */

import { makeReady } from './ready.mjs'

makeReady()
await import('../dist/src/cli.js')
