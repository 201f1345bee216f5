/** Loaded into each file of tests: shows what it throws outside of a test, of which Node tells little. */

process.on('uncaughtExceptionMonitor', (error) => {
  process.stderr.write(`${error?.stack ?? error}\n`)
})
