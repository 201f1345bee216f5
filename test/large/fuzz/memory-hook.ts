/** On SIGUSR2, collects garbage and prints the number of bytes in use. */

import { collectGarbage } from '../../support/garbage.js'

process.on('SIGUSR2', () => {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  process.stdout.write(`${JSON.stringify({ msg: 'memory', bytes: heapUsed + external })}\n`)
})
