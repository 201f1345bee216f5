/** On SIGUSR2, collects garbage and prints the number of bytes in use. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

process.on('SIGUSR2', () => {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  process.stdout.write(`${JSON.stringify({ msg: 'memory', bytes: heapUsed + external })}\n`)
})
