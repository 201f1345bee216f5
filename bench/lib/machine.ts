/** Describes the machine and the software versions of a measurement. */

import { spawnSync } from 'node:child_process'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { manifest, root } from '../../test/support/tools.js'
import { canPin, cores } from './processes.js'

const usualPinning = canPin
  ? `server on core ${cores.server}, load on core ${cores.load}`
  : 'server and load not pinned to cores (no taskset, or one core only)'

/** Describes the machine. Must be called before the benchmark changes the load average. */
export function describeMachine(pinning = usualPinning) {
  return [
    `Machine: ${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ` +
      `${Math.round(totalmem() / 2 ** 30)} GiB; ${pinning}; ` +
      `load average at the start ${loadavg()[0]?.toFixed(2)}`,
    `Versions: item-store ${manifest.version}${commit()}, node ${process.versions.node}`,
  ]
}

function commit() {
  const id = git('rev-parse', '--short', 'HEAD')
  if (!id) return ''
  // Ignores changes in the results file, which is not part of the measured code.
  const changed = git('status', '--porcelain', '--', ':!bench/RESULTS.md')
  return ` (commit ${id}${changed ? ' with changes' : ''})`
}

function git(...args: string[]) {
  return spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.trim()
}
