/** Checks that no other program uses the port, before an installation and build of up to a minute. */

import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import util from 'node:util'

/** @param {string[]} args name and arguments of the command */
export async function refuseBusyPort([command, ...args]) {
  if (command !== 'serve' && command !== 'dev') return
  // The command's own parser may not be built yet.
  const options = /** @type {const} */ ({ port: { type: 'string' }, host: { type: 'string' } })
  const { values } = util.parseArgs({ args, options, strict: false })
  const isFile = statSync('.env', { throwIfNoEntry: false })?.isFile() // reading a pipe would empty it
  const env = { ...(isFile && util.parseEnv(readFileSync('.env', 'utf8'))), ...process.env }
  const port = Number(values.port ?? (env.PORT || 8000))
  const usualHost = command === 'dev' ? '127.0.0.1' : '0.0.0.0'
  const host = String(values.host ?? (env.HOST || usualHost))
  const server = createServer()
  try {
    await once(server.listen(port, host), 'listening')
    server.close()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) return
    process.stderr.write(
      `item-store: port ${port} is in use; stop the program that uses it or choose another port with --port\n`,
    )
    process.exit(2)
  }
}
