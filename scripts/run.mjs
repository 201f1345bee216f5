/** `npm start`, `npm run dev`, `npm run token`: builds if needed, then runs the `item-store` command in this process. */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { refuseBusyPort } from './busy-port.mjs'
import { isReady, makeReady, root } from './ready.mjs'

if (!isReady()) {
  await refuseBusyPort(process.argv.slice(2))
  makeReady()
}

// npm passes a signal only to its child process. With `npm start`, that child is this process, which has replaced the
// shell (`exec`). The other scripts must also work in shells without `exec`. There, the signal ends only the shell, and
// this process notices that its parent is gone.
const shell = process.ppid
const watch = setInterval(() => {
  if (process.ppid === shell) return
  clearInterval(watch)
  process.kill(process.pid, 'SIGTERM')
}, 100)
watch.unref()

const cli = join(root, 'dist/cli.js')
await import(pathToFileURL(cli).href)

// A signal to all processes together also ends the shell, and the end of the shell must not count as a second signal.
// The handlers are installed only now, because a signal before the start of the service must simply end the process.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
  process.once(signal, () => clearInterval(watch))
}
