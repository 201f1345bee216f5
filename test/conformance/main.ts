/** Runs all conformance tests in one process, for `item-store conformance`. */

// endpoints.test.js comes first, because its first test needs a service without items.
import './endpoints.test.js'
import './service.test.js'
import './resources.test.js'
import './states.test.js'
import './auth.test.js'
import './limits-and-versioning.test.js'

// Without this listener, Node's test runner would print a stack trace for a write error.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  const line = `item-store: cannot write to standard output: ${message}\n`
  if (code !== 'EPIPE') process.stderr.write(line)
  process.exit(1)
})
