/** `npm start`, `npm run dev` and `npm run token`: makes ready, then becomes the `item-store` command. */

import { makeReady } from './ready.mjs'

makeReady()

// npm passes a signal on to its child only. `npm start` has this process take the place of the shell
// that npm starts; the other scripts also run where a shell has no `exec`, and there it dies of it.
const shell = process.ppid
const watch = setInterval(() => {
  if (process.ppid === shell) return
  clearInterval(watch)
  process.kill(process.pid, 'SIGTERM')
}, 100)
watch.unref()

await import('../dist/src/cli.js')

// A signal to all processes at once ends the shell too; that must not count as a second one. Only
// listened to from here on, as before it is the platform that ends the process.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
  process.once(signal, () => clearInterval(watch))
}
