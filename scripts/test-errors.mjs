/** Prints errors that are thrown outside of tests, because the test runner reports little about such errors. */

process.on('uncaughtExceptionMonitor', (error) => {
  process.stderr.write(`${error?.stack ?? error}\n`)
})
