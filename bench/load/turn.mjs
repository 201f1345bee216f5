/** One turn: the load of one workload on one server for a number of seconds. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rawRequest } from '../lib/client.mjs'
import { benchFolder } from '../lib/install.mjs'
import { anyId } from '../lib/item.mjs'
import { cores, isInstalled, scratch, start } from '../lib/processes.mjs'

/** Seconds that a turn may take beyond its length, for a slow response. */
const patience = 120

export const loadTool = isInstalled('wrk') ? 'wrk' : 'autocannon'

/**
 * Runs a turn.
 * @param requests sent in rotation.
 * @param lines what replaces `anyId` (or the token), each used once; optional.
 * @param drain whether to wait for the responses in flight at the end, and count them; only wrk does.
 * @returns responses per second (`rate`), their number (`answers`), and whether the lines ran out.
 * @throws when any response was missing or had an unexpected status: such a turn has no figure.
 */
export async function runTurn({ port, headers, requests, lines, connections, seconds, drain }) {
  const folder = mkdtempSync(join(scratch, 'turn-'))
  const run = loadTool === 'wrk' ? runWrk : runAutocannon
  const turn = { port, headers, requests, lines, connections, seconds, drain, folder }
  const { answers, seconds: taken, ranOut, refused, broken } = await run(turn)
  rmSync(folder, { recursive: true })
  if (refused > 0) throw new Error(`${refused} of ${answers} responses had an unexpected status`)
  if (broken > 0) throw new Error(`${broken} requests got no response`)
  if (answers === 0) throw new Error('there was no response')
  return { rate: answers / taken, answers, ranOut }
}

async function runWrk(turn) {
  const { port, headers, requests, lines, connections, seconds, drain, folder } = turn
  requests.forEach((request, index) => {
    const own =
      request.lines === 'token' ? { ...headers, Authorization: `Bearer ${anyId}` } : headers
    const text = rawRequest({ ...request, headers: own })
    const marked = request.lines ? text.replace(anyId, '\x01') : text
    writeFileSync(join(folder, String(index + 1)), marked)
  })
  if (lines) writeFileSync(join(folder, 'lines'), `${lines.join('\n')}\n`)
  const output = await outputOf('wrk', [
    ...['--threads', '1', '--connections', String(connections)],
    ...['--duration', String(seconds + patience), '--timeout', String(patience)],
    ...['--script', join(benchFolder, 'load/requests.lua'), `http://127.0.0.1:${port}`],
    ...['--', folder, String(requests.length), String(seconds)],
    ...(drain ? [String(connections)] : []),
  ])
  return JSON.parse(output.trimEnd().split('\n').at(-1))
}

async function runAutocannon({ folder, ...turn }) {
  const file = join(folder, 'turn.json')
  writeFileSync(file, JSON.stringify({ ...turn, patience }))
  const script = join(benchFolder, 'load/autocannon.mjs')
  return JSON.parse(await outputOf(process.execPath, [script, file]))
}

async function outputOf(command, args) {
  const child = start({ command, args, core: cores.load, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  await child.ended
  if (child.exitCode !== 0)
    throw new Error(
      `${command} failed (${child.signalCode ?? child.exitCode}): ${child.errorOutput}${output}`,
    )
  return output
}
