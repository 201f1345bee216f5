/** `npm start`, `npm run dev`, `npm run token`: builds if needed, then runs the command. */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { makeReady, root } from './ready.mjs'

makeReady()

// npm sends signals only to its child process, which may be a shell. When the shell ends, this process must end too.
const shell = process.ppid
const watch = setInterval(() => {
  if (process.ppid === shell) return
  clearInterval(watch)
  process.kill(process.pid, 'SIGTERM')
}, 100)
watch.unref()

await import(pathToFileURL(join(root, 'dist/cli.js')).href)

// A signal to the process group also ends the shell, so the timer would send a second signal. These handlers stop the
// timer. They are added after the service has started, because an earlier signal must simply end the process.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
  process.once(signal, () => clearInterval(watch))
}
