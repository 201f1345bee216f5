/** `npm run build`: installs and builds what is missing or out of date. */

import { makeReady } from './ready.mjs'

makeReady()
