/**
 * All conformance tests in one process: what `item-store conformance` runs. They share nothing but the service,
 * and send no request before the first of them runs.
 */

// First, as it begins with the list of a service that may have no items yet.
import './endpoints.test.js'
import './service.test.js'
import './resources.test.js'
import './states.test.js'
import './auth.test.js'
import './limits-and-versioning.test.js'

// Otherwise Node's test runner prints a stack.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  const line = `item-store: cannot write to standard output: ${message}\n`
  if (code !== 'EPIPE') process.stderr.write(line)
  process.exit(1)
})
