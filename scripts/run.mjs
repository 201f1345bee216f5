/** `npm start`, `npm run dev` and `npm run token`: builds if needed, then becomes the `item-store` command. */

import { join } from 'node:path'
import { makeReady, root } from './ready.mjs'

makeReady()

// npm passes a signal on to its child only. With `npm start`, this process replaces the shell that npm
// starts; the other scripts also run where a shell has no `exec`, and there the signal ends the shell.
const shell = process.ppid
const watch = setInterval(() => {
  if (process.ppid === shell) return
  clearInterval(watch)
  process.kill(process.pid, 'SIGTERM')
}, 100)
watch.unref()

process.argv[1] = join(root, 'dist/cli.js') // what workers are started with, if there are any
await import('../dist/cli.js')

// A signal to all processes at once ends the shell too, which must not count as a second one. Installed
// only now, because until the service has started a signal must simply end the process.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
  process.once(signal, () => clearInterval(watch))
}
