/** `npm run docs`: writes docs/reference/settings.md from the table of settings in src/config/settings.ts. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeReady, root } from './ready.mjs'

makeReady()
const { settingsPage } = await import('../build/test/support/settings-page.js')
writeFileSync(join(root, 'docs/reference/settings.md'), settingsPage())
