/** `npm run build`: installs and builds what is missing or stale. */

import { makeReady } from './ready.mjs'

makeReady()
