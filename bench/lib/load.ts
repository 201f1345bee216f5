/** Sends one request to a server over and over, for one turn. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { root } from '../../test/support/tools.js'
import { type Request, rawRequest } from './client.js'
import { fail } from './options.js'
import { cores, isInstalled, scratch, start } from './processes.js'

const script = join(root, 'bench/lib/load.lua')
const timeout = 60 // seconds

export function describeLoad() {
  if (!isInstalled('wrk')) fail('wrk is not installed')
  const { stdout } = spawnSync('wrk', ['-v'], { encoding: 'utf8' })
  return `Load: wrk ${/wrk (\S+)/.exec(stdout)?.[1]?.replace(/^debian\//, '') ?? ''}`
}

/** @returns responses per second, and number of responses @throws if a response is an error */
export async function sendLoad(
  port: number,
  request: Request,
  { connections, seconds }: { connections: number; seconds: number },
) {
  const file = join(scratch, 'request')
  writeFileSync(file, rawRequest(request))
  const args = [
    ...['--threads', '1', '--connections', String(connections)],
    ...['--duration', String(seconds), '--timeout', String(timeout)],
    ...['--script', script, `http://127.0.0.1:${port}`, '--', file],
  ]
  const wrk = start({ command: 'wrk', args, core: cores.load, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = wrk.stdout ? await text(wrk.stdout) : ''
  await wrk.ended
  if (wrk.exitCode !== 0) throw new Error(`the load failed: ${wrk.errorOutput}${output}`)

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
