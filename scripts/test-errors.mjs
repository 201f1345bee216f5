/** Loaded into each test file: prints errors that are thrown outside a test, because Node.js hardly describes them. */

process.on('uncaughtExceptionMonitor', (error) => {
  process.stderr.write(`${error?.stack ?? error}\n`)
})
