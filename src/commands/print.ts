/** Prints the output of a command. @module */

/**
 * Prints to standard output. If that fails, the process ends with exit code 1 and one line that says
 * why, or none if the reader has gone.
 */
export function print(text: string): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    process.exitCode = 1
    if (code === 'EPIPE') return
    process.stderr.write(`item-store: cannot write to standard output: ${message}\n`)
  })
  process.stdout.write(text)
}
