/** `npm run docs`: writes the table in docs/reference/settings.md, with the settings in src/config/settings.ts. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeReady, root } from './ready.mjs'

makeReady()
const { settingsTable } = await import('../build/test/support/settings-table.js')
const file = join(root, 'docs/reference/settings.md')
const page = readFileSync(file, 'utf8')
writeFileSync(file, page.replace(/^\|(.|\n)*?(?=\n\n)/m, settingsTable))
