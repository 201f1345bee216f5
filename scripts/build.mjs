/** `npm run build`: installs packages and builds the project if needed. With `--install`, only installs packages. */

import { install, makeReady } from './ready.mjs'

if (process.argv.includes('--install')) install()
else makeReady()
