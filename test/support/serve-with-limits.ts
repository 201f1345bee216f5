/** Runs `item-store serve` with limits from an argument, and logs the final number of items. */

import { environmentSigning } from '../../src/auth/secret.js'
import { readArguments } from '../../src/config/flags.js'
import { readConfig } from '../../src/config/read-config.js'
import { flags } from '../../src/config/settings.js'
import { start } from '../../src/process/start.js'

const [limits = '', ...args] = process.argv.slice(2)
const config = readConfig(readArguments('serve', args, flags).values)
const options = {
  isReadable: false,
  requestLogLevel: 'debug',
  signing: environmentSigning,
} as const
const { store, log } = await start({ ...config, ...JSON.parse(limits) }, options)
const close = store.close
store.close = async () => {
  log.info({ items: (await store.size()).items }, 'closing the store')
  await close()
}
