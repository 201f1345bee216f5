/** Loaded into each test file: shows what it throws outside a test, about which Node says little. */

process.on('uncaughtExceptionMonitor', (error) => {
  process.stderr.write(`${error?.stack ?? error}\n`)
})
