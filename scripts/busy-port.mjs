/** Checks the command's port before an installation or a build that can take a minute. */

import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'

/** @param {string[]} args name and arguments of the command */
export async function refuseBusyPort([command, ...args]) {
  if (command !== 'serve' && command !== 'dev') return
  const port = settingOf('PORT', args) ?? '8000'
  const host = settingOf('HOST', args) ?? (command === 'dev' ? '127.0.0.1' : '0.0.0.0')
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) return
  const server = createServer()
  try {
    await once(server.listen(Number(port), host), 'listening')
    server.close()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) return
    process.stderr.write(
      `item-store: port ${port} is in use; stop the program that uses it or choose another port with --port\n`,
    )
    process.exit(2)
  }
}

/**
 * Reads only simple values, because the command's own parser may not be built yet.
 * @param {string} name @param {string[]} args
 */
function settingOf(name, args) {
  const flag = `--${name.toLowerCase()}`
  const at = args.lastIndexOf(flag)
  const given = args.findLast((arg) => arg.startsWith(`${flag}=`))?.slice(flag.length + 1)
  const inFile = new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=\\s*["'\`]?([^\\s"'\`#]+)`, 'm')
  const file = existsSync('.env') ? readFileSync('.env', 'utf8') : ''
  return (
    given ?? (at === -1 ? undefined : args[at + 1]) ?? (process.env[name] || inFile.exec(file)?.[1])
  )
}
