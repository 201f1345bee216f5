/** Sends the requests of a workload to one server for one turn. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { root } from '../../test/support/tools.js'
import { type Headers, type Request, rawRequest } from './client.js'
import { anyId } from './item.js'
import { fail } from './options.js'
import { cores, isInstalled, scratch, start } from './processes.js'
import type { Workload } from './workloads.js'

const script = join(root, 'bench/lib/load.lua')
/** Maximum time that slow responses may add to a turn, in seconds. */
const maximumDelay = 120

export function describeLoad() {
  if (!isInstalled('wrk')) fail('wrk is not installed')
  const { stdout } = spawnSync('wrk', ['-v'], { encoding: 'utf8' })
  return `Load: wrk ${/wrk (\S+)/.exec(stdout)?.[1]?.replace(/^debian\//, '') ?? ''}`
}

export interface Target {
  port: number
  headers: Headers
  requests: Request[] // sent in rotation
}

/**
 * Sends requests for the given number of seconds. Each of `values` replaces `anyId` in one request.
 * @returns responses per second, and number of responses @throws if a response is an error
 */
export async function sendLoad(
  { port, headers, requests }: Target,
  { connections, isList }: Workload,
  values: string[],
  seconds: number,
) {
  const folder = mkdtempSync(join(scratch, 'turn-'))
  for (const [index, request] of requests.entries()) {
    const message = rawRequest({ ...request, headers }).replace(anyId, '\x01')
    writeFileSync(join(folder, String(index + 1)), message)
  }
  writeFileSync(join(folder, 'values'), values.join('\n'))
  const duration = isList ? seconds + maximumDelay : seconds
  const args = [
    ...['--threads', '1', '--connections', String(connections)],
    ...['--duration', String(duration), '--timeout', String(maximumDelay)],
    ...['--script', script, `http://127.0.0.1:${port}`],
    ...['--', folder, String(requests.length)],
    ...(isList ? [String(seconds), String(connections)] : []),
  ]
  const wrk = start({ command: 'wrk', args, core: cores.load, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = wrk.stdout ? await text(wrk.stdout) : ''
  await wrk.ended
  if (wrk.exitCode !== 0) throw new Error(`the load failed: ${wrk.errorOutput}${output}`)
  rmSync(folder, { recursive: true })

  // load.lua prints the result as the last line.
  const result: Record<'answers' | 'seconds' | 'refused' | 'broken', number> = JSON.parse(
    output.trimEnd().split('\n').at(-1) ?? '',
  )
  const { answers, refused, broken } = result
  if (refused > 0) throw new Error(`${refused} of ${answers} responses had an error status`)
  if (broken > 0) throw new Error(`${broken} requests got no response`)
  if (answers === 0) throw new Error('there was no response')
  return { rate: answers / result.seconds, answers }
}
