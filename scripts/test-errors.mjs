/** Prints errors that are thrown outside of tests, because Node.js reports little about them. */

process.on('uncaughtExceptionMonitor', (error) => {
  process.stderr.write(`${error?.stack ?? error}\n`)
})
