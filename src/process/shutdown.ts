/** How a serving process ends. @module */

import type { Logger } from 'pino'

/**
 * Signals that ask the process to end. All others are left to the platform: with a JavaScript handler for
 * SIGSEGV, for example, a process that crashes would wait for it forever.
 */
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * A signal within this time of the first is taken for a repetition: Ctrl-C in a terminal also reaches
 * npm, which passes it on, and service managers may send SIGHUP after SIGTERM.
 */
const repeatTime = 100 // milliseconds

/**
 * From now on, a signal stops the service and ends the process with exit code 0; a second one ends it
 * at once, with 1. An uncaught error is logged and stops the service with exit code 1.
 * @param stop answers the requests already accepted.
 * @param timeout in seconds; if `stop` takes longer, the process ends anyway, with exit code 1.
 */
export function handleShutdown(stop: () => Promise<void>, timeout: number, log: Logger): void {
  let stoppedAt: number | undefined
  let exitCode = 0

  for (const signal of signals) {
    process.on(signal, () => {
      if (stoppedAt === undefined) {
        log.info(`${signal}: stopping`)
        end()
      } else if (performance.now() - stoppedAt > repeatTime) {
        log.error(`second signal, ${signal}: exiting at once`)
        process.exit(1)
      }
    })
  }
  // Unhandled rejections are raised as uncaught exceptions, too.
  process.on('uncaughtException', (err) => {
    exitCode = 1
    log.fatal({ err }, 'uncaught error: stopping')
    end()
  })

  function end(): void {
    if (stoppedAt !== undefined) return
    stoppedAt = performance.now()
    setTimeout(() => {
      log.error(`not stopped within ${timeout} s: exiting at once`)
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
