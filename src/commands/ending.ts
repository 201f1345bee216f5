/** How a process that serves ends. @module */

import type { Logger } from 'pino'

/**
 * Signals that ask for an end. All others are left to the platform: a handler in JavaScript for one
 * that tells of a crash, such as SIGSEGV, would be waited for by a process that can never run it.
 */
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * What comes within this time of the first signal is the same wish to end: Ctrl-C in a terminal also
 * reaches npm, which passes it on, and service managers may send SIGHUP after SIGTERM.
 */
const sameSignal = 100 // milliseconds

/**
 * From now on a signal stops the service and ends the process with exit code 0; a second one ends it
 * at once, with 1. An error that nothing caught is logged, and stops it with exit code 1.
 * @param stop answers what was accepted.
 * @param timeout in seconds: when `stop` takes longer, the process ends without it, with exit code 1.
 */
export function endInOrder(stop: () => Promise<void>, timeout: number, log: Logger): void {
  let stoppedAt: number | undefined
  let exitCode = 0

  for (const signal of signals) {
    process.on(signal, () => {
      if (stoppedAt === undefined) {
        log.info(`${signal}: stopping`)
        end()
      } else if (performance.now() - stoppedAt > sameSignal) {
        log.error(`second signal, ${signal}: ending at once`)
        process.exit(1)
      }
    })
  }
  // Rejections that nothing handles are raised as such errors.
  process.on('uncaughtException', (err) => {
    exitCode = 1
    log.fatal({ err }, 'uncaught error: stopping')
    if (stoppedAt === undefined) end()
  })

  function end(): void {
    stoppedAt = performance.now()
    setTimeout(() => {
      log.error(`not stopped within ${timeout} s: ending at once`)
      process.exit(1)
    }, timeout * 1000)
    stop().then(
      () => process.exit(exitCode),
      (err) => {
        log.fatal({ err }, 'stopping failed')
        process.exit(1)
      },
    )
  }
}
