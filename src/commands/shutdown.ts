/** How a serving process ends. @module */

import type { Logger } from 'pino'

/**
 * Signals that ask the process to end. All others are left to the platform: a process that crashes,
 * with SIGSEGV for example, would wait for a JavaScript handler that it can never run.
 */
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * A signal within this time of the first counts as the same: Ctrl-C in a terminal also reaches npm,
 * which passes it on, and service managers may send SIGHUP after SIGTERM.
 */
const sameSignal = 100 // milliseconds

/**
 * From now on, the signals that ask this process to end are left to the one that has started it: a
 * terminal or a service manager may send them to both.
 */
export function ignoreSignals(): void {
  for (const signal of signals) process.on(signal, () => undefined)
}

/**
 * From now on, a signal stops the service and ends the process with exit code 0; a second one ends it
 * at once, with 1. An uncaught error is logged, and stops the service with exit code 1.
 * @param stop answers what was accepted.
 * @param timeout in seconds; if `stop` takes longer, the process ends anyway, with exit code 1.
 * @param isWorker whether another process has started this one, and gets the signals: it stops this one
 * by closing the channel between them, as does its own end.
 */
export function handleShutdown(
  stop: () => Promise<void>,
  timeout: number,
  log: Logger,
  isWorker = false,
): void {
  let stoppedAt: number | undefined
  let exitCode = 0

  for (const signal of isWorker ? [] : signals) {
    process.on(signal, () => {
      if (stoppedAt === undefined) {
        log.info(`${signal}: stopping`)
        end()
      } else if (performance.now() - stoppedAt > sameSignal) {
        log.error(`second signal, ${signal}: exiting at once`)
        process.exit(1)
      }
    })
  }
  if (isWorker) {
    process.once('disconnect', () => {
      if (stoppedAt === undefined) end()
    })
  }
  // Unhandled rejections are raised as uncaught exceptions, too.
  process.on('uncaughtException', (err) => {
    exitCode = 1
    log.fatal({ err }, 'uncaught error: stopping')
    if (stoppedAt === undefined) end()
  })

  function end(): void {
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
