/**
 * `npm run build`: installs and builds what is missing or out of date. With `--install`, as in `npm run format`, it
 * only installs.
 */

import { install, makeReady } from './ready.mjs'

if (process.argv.includes('--install')) install()
else makeReady()
