/**
 * Loaded into each test file: prints errors that are thrown outside a test, because Node.js reports little about them.
 */

process.on('uncaughtExceptionMonitor', (error) => {
  process.stderr.write(`${error?.stack ?? error}\n`)
})
