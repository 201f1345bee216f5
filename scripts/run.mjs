/** `npm start`, `npm run dev` and `npm run token`: builds if needed, then becomes the `item-store` command. */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { refuseBusyPort } from './busy-port.mjs'
import { isReady, makeReady, root } from './ready.mjs'

if (!isReady()) {
  await refuseBusyPort(process.argv.slice(2))
  makeReady()
}

// npm passes a signal on only to its child. With `npm start`, this process replaces the shell that npm
// starts; the other scripts also run where a shell has no `exec`, and there the signal ends the shell.
const shell = process.ppid
const watch = setInterval(() => {
  if (process.ppid === shell) return
  clearInterval(watch)
  process.kill(process.pid, 'SIGTERM')
}, 100)
watch.unref()

const cli = join(root, 'dist/cli.js')
await import(pathToFileURL(cli).href)

// A signal to all processes at once also ends the shell, which must not count as a second one. The handlers
// are installed only now, because until the service has started a signal must simply end the process.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
  process.once(signal, () => clearInterval(watch))
}
