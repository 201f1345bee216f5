/** `npm start`, `npm run dev`, `npm run token`: builds if needed, then runs the `item-store` command in this process. */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { refuseBusyPort } from './busy-port.mjs'
import { isReady, makeReady, root } from './ready.mjs'

if (!isReady()) {
  await refuseBusyPort(process.argv.slice(2))
  makeReady()
}

// npm passes a signal only to its child. With `npm start`, the shell that npm starts is replaced by this process. The
// other scripts must also run in shells without `exec`. There, the signal ends the shell, which this process notices.
const shell = process.ppid
const watch = setInterval(() => {
  if (process.ppid === shell) return
  clearInterval(watch)
  process.kill(process.pid, 'SIGTERM')
}, 100)
watch.unref()

const cli = join(root, 'dist/cli.js')
await import(pathToFileURL(cli).href)

// A signal to all processes at once also ends the shell, whose end must not count as a second signal. The handlers are
// installed only now, because a signal before the service has started must simply end the process.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
  process.once(signal, () => clearInterval(watch))
}
