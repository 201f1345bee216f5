/** What a result depends on besides the code: the machine and the versions. */

import { spawnSync } from 'node:child_process'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { root } from '../../scripts/ready.mjs'
import { canPin, cores } from './processes.mjs'
import { serviceVersion } from './versions.mjs'

const usualPinning = canPin
  ? `server on core ${cores.server}, load on core ${cores.load}`
  : 'server and load not pinned to cores (no taskset, or one core only)'

/** Lines for the head of a section of results. */
export function describeMachine(pinning = usualPinning) {
  return [
    `Machine: ${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ` +
      `${Math.round(totalmem() / 2 ** 30)} GiB; ${pinning}; ` +
      `load average at the start ${loadavg()[0].toFixed(2)}`,
    `Versions: item-store ${serviceVersion()}${commit()}, node ${process.versions.node}`,
  ]
}

export function wrkVersion() {
  const { stdout } = spawnSync('wrk', ['-v'], { encoding: 'utf8' })
  return /wrk (\S+)/.exec(stdout)?.[1].replace(/^debian\//, '') ?? ''
}

/** The command that a person would type for this run. */
export function commandLine(script) {
  const args = process.argv.slice(2)
  return [`npm run ${script}`, ...(args.length > 0 ? ['--', ...args] : [])].join(' ')
}

function commit() {
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.trim()
  const id = git('rev-parse', '--short', 'HEAD')
  if (!id) return ''
  // The results themselves do not change what they measure.
  const changed = git('status', '--porcelain', '--', ':!bench/RESULTS.md')
  return ` (commit ${id}${changed ? ' with changes' : ''})`
}
