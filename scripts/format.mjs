/** `npm run format`: installs what is missing, then formats and lints, and fixes what can be fixed. */

import { join } from 'node:path'
import { install, root, run } from './ready.mjs'

install()
run(process.execPath, [
  join(root, 'node_modules/@biomejs/biome/bin/biome'),
  ...['check', '--write', '.'],
])
