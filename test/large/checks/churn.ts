/**
 * `npm run check -- churn --memory 512 --seconds 30`: creates, replaces and deletes of 100 bytes to 2 MB with
 * ten slow readers of lists, under the limits that the service takes in a container of so many MiB; then
 * deletes everything, fills the store and lists it. Ends with code 1 if more than 1.5 times the idle memory
 * is left after the churn, or if the store cannot be filled or listed.
 */

import { churn } from '../../support/churn.js'
import { cli, ownService } from '../../support/own-service.js'
import { numbers, say } from './report.js'

const { memory, seconds } = numbers({ memory: 512, seconds: 30 })
const mebibyte = 1024 ** 2
const allowedGrowth = 1.5
/** Items have room beside their text: the least part of the store that the texts of 3 KB have to reach. */
const allowedFill = 0.93

const maxStoreBytes = Math.floor(memory / 2) * mebibyte
const service = await ownService(
  {
    MAX_MEMORY_BYTES: String(Math.floor(memory * 0.9) * mebibyte),
    MAX_STORE_BYTES: String(maxStoreBytes),
  },
  [process.execPath, `--max-old-space-size=${Math.floor(memory / 2)}`, cli, 'serve'],
)
const { idle, after, served, filled, end, listed } = await churn(service, {
  seconds,
  maxStoreBytes,
})
await service.stop()

const inMebibytes = (bytes: number) => `${(bytes / mebibyte).toFixed(0)} MiB`
const fill = filled / maxStoreBytes
say(
  `${served} requests; memory: ${inMebibytes(idle)} idle, ${inMebibytes(after)} after the churn ` +
    `(${(after / idle).toFixed(2)} times); texts of ${inMebibytes(filled)} filled a store of ` +
    `${inMebibytes(maxStoreBytes)} (${(fill * 100).toFixed(0)} %), ended by ${end}; list: ${listed}`,
)
const isGood = after <= allowedGrowth * idle && fill >= allowedFill && end === 507 && listed === 200
process.exit(isGood ? 0 : 1)
