/** A program, run by `withLimits`: `item-store serve` with other limits than those that follow from its settings. */

import { readFlags } from '../../src/config/flags.js'
import { readSettings } from '../../src/config/read-config.js'
import { flags } from '../../src/config/settings.js'
import { start } from '../../src/process/start.js'

const [limits = '', ...args] = process.argv.slice(2)
const config = readSettings(readFlags('serve', args, flags))
await start({ ...config, ...JSON.parse(limits) }, { isReadable: false, requestLogLevel: 'debug' })
