/** Loaded into each test file: prints errors thrown outside a test, about which Node says little. */

process.on('uncaughtExceptionMonitor', (error) => {
  process.stderr.write(`${error?.stack ?? error}\n`)
})
