/** Sends one request to a server over and over, for one turn. */

import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { cores, start } from './processes.js'
import type { Request } from './requests.js'

/** @returns responses per second, and number of responses @throws if a response is missing or an error */
export async function sendLoad(port: number, request: Request, connections: number, time: number) {
  const script = join(tmpdir(), 'request.lua')
  writeFileSync(script, scriptFor(request))
  const args = ['-t1', `-c${connections}`, `-d${time}`, '--timeout=60', `--script=${script}`]
  const command = ['wrk', ...args, `http://127.0.0.1:${port}${request.path}`]
  const wrk = start(command, cores.load, {}, ['ignore', 'pipe', 'inherit'])
  const output = wrk.stdout === null ? '' : await text(wrk.stdout)
  const answers = Number(/^ +(\d+) requests in /m.exec(output)?.[1])
  const rate = Number(/^Requests\/sec: +([\d.]+)/m.exec(output)?.[1])
  if (!(answers > 0) || /Socket errors|Non-2xx/.test(output)) throw new Error(output)
  return { rate, answers }
}

/** Returns a script for wrk. As a string in JSON, the body is also one in Lua. */
function scriptFor({ method, body, headers = {} }: Request) {
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers["${name}"] = "${value}"`,
  )
  if (body !== undefined) lines.push(`wrk.body = ${JSON.stringify(body)}`)
  return [`wrk.method = "${method}"`, ...lines].join('\n')
}
