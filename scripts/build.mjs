/** `npm run build`: installs and builds what is missing. With `--install`, only installs. */

import { install, makeReady } from './ready.mjs'

if (process.argv.includes('--install')) install()
else makeReady()
