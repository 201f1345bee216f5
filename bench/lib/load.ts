/** Sends the requests of a workload to one server for one turn. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../test/support/tools.js'
import { type Headers, type Request, rawRequest } from './client.js'
import { anyId } from './item.js'
import { fail } from './options.js'
import { cores, isInstalled, type Program, scratch, start } from './processes.js'

const script = join(root, 'bench/lib/load.lua')
/** Maximum time that slow responses may add to a turn, in seconds. */
const maximumDelay = 120

/** Returns the version of wrk. Ends the process if wrk is not installed. */
export function describeLoad() {
  if (!isInstalled('wrk')) fail('wrk is not installed')
  const { stdout } = spawnSync('wrk', ['-v'], { encoding: 'utf8' })
  return `Load: wrk ${/wrk (\S+)/.exec(stdout)?.[1]?.replace(/^debian\//, '') ?? ''}`
}

interface Load {
  port: number
  headers: Headers
  requests: Request[] // sent in rotation
  values: string[] | undefined // ids or tokens that replace `anyId`, each used once
  connections: number
  pipelined?: number | undefined // number of requests that a connection sends in one write; 1 by default
  seconds: number
  waitsForLast: boolean // whether responses in flight at the end are awaited and counted
}

/** @returns responses per second, and number of responses @throws if a response is an error */
export async function sendLoad(load: Load) {
  const { port, headers, requests, values, connections } = load
  const { pipelined = 1, seconds, waitsForLast } = load
  const folder = mkdtempSync(join(scratch, 'turn-'))
  for (const [index, request] of requests.entries()) {
    const ownHeaders =
      request.once === 'token' ? { ...headers, Authorization: `Bearer ${anyId}` } : headers
    const text = rawRequest({ ...request, headers: ownHeaders })
    const marked = request.once === undefined ? text : text.replace(anyId, '\x01')
    writeFileSync(join(folder, String(index + 1)), marked.repeat(pipelined))
  }
  if (values) writeFileSync(join(folder, 'values'), `${values.join('\n')}\n`)
  const args = [
    ...['--threads', '1', '--connections', String(connections)],
    ...['--duration', String(seconds + maximumDelay), '--timeout', String(maximumDelay)],
    ...['--script', script, `http://127.0.0.1:${port}`],
    ...['--', folder, String(requests.length), String(seconds)],
    ...(waitsForLast ? [String(connections)] : []),
  ]
  const output = await outputOf({ command: 'wrk', args })
  rmSync(folder, { recursive: true })

  // load.lua prints the result as the last line.
  const result: { answers: number; seconds: number; refused: number; broken: number } = JSON.parse(
    output.trimEnd().split('\n').at(-1) ?? '',
  )
  const { answers, refused, broken } = result
  if (refused > 0) throw new Error(`${refused} of ${answers} responses had an error status`)
  if (broken > 0) throw new Error(`${broken} requests got no response`)
  if (answers === 0) throw new Error('there was no response')
  return { rate: answers / result.seconds, answers }
}

async function outputOf(program: Program) {
  const child = start({ ...program, core: cores.load, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  await child.ended
  if (child.exitCode !== 0) throw new Error(`the load failed: ${child.errorOutput}${output}`)
  return output
}
