/**
 * `npm run build`: installs and builds what is missing or out of date. With `--install`, it only installs, for `npm run
 * format`.
 */

import { install, makeReady } from './ready.mjs'

if (process.argv.includes('--install')) install()
else makeReady()
