/**
 * A program: `item-store serve`, which says in its log how many items there are when the store is closed,
 * after the last request.
 */

import { readFlags } from '../../../src/config/flags.js'
import { readSettings } from '../../../src/config/read-config.js'
import { flags } from '../../../src/config/settings.js'
import { start } from '../../../src/process/start.js'

const config = readSettings(readFlags('serve', process.argv.slice(2), flags))
const { server, log } = await start(config, { isReadable: false, requestLogLevel: 'debug' })
const { store } = server
const close = store.close
store.close = async () => {
  log.info({ items: (await store.size()).items }, 'closing the store')
  await close()
}
