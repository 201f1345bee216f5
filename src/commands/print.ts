/** Prints the output of a command. @module */

/**
 * Prints to standard output. Where that cannot be written to, the process ends with exit code 1, and one
 * line that says why; with none where the reader has gone.
 */
export function print(text: string): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    process.exitCode = 1
    if (code === 'EPIPE') return
    process.stderr.write(`item-store: standard output cannot be written to: ${message}\n`)
  })
  process.stdout.write(text)
}
