/** Starts servers and load generators on separate CPU cores, and kills all of them when the run ends. */

import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { until } from '../../test/support/process.js'

const startTimeout = 30_000 // ms until a server listens

export const cores = { server: 0, load: 1 }
export const canPin = versionOf('taskset', 'taskset') !== undefined && availableParallelism() > 1

const running: Set<ChildProcess> = new Set()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))

export function start(
  command: string[],
  core: number,
  env: Record<string, string> = {},
  stdio: StdioOptions = ['ignore', 'ignore', 'inherit'],
) {
  const [file = '', ...args] = [...(canPin ? ['taskset', '-c', String(core)] : []), ...command]
  const { PATH, HOME } = process.env // the caller's settings must not reach the servers
  const child = spawn(file, args, { cwd: tmpdir(), env: { PATH, HOME, ...env }, stdio })
  running.add(child)
  child.once('close', () => running.delete(child))
  return child
}

export async function startServer(
  port: number,
  command: string[],
  env?: Record<string, string>,
  core = cores.server,
) {
  const child = start(command, core, env)
  const isListening = async () => {
    if (!running.has(child)) throw new Error(`${command.join(' ')} has ended`)
    const socket = connect(port, '127.0.0.1')
    const connected = once(socket, 'connect').then(
      () => true,
      () => false,
    )
    return await connected.finally(() => socket.destroy())
  }
  await until(`${command.join(' ')} listens`, isListening, startTimeout)
  return child
}

export function pinSelf() {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', String(cores.load), String(process.pid)])
}

export async function kill(children: ChildProcess[]) {
  for (const child of children) child.kill('SIGKILL')
  await until('the processes have ended', () => children.every((child) => !running.has(child)))
}

/** Returns the version that a program prints, or `undefined` if the program is not installed. */
export function versionOf(name: string, command: string, option = '--version') {
  const { stdout, error } = spawnSync(command, [option], { encoding: 'utf8' })
  return error === undefined ? `${name} ${/\d+(\.\d+)+/.exec(stdout)?.[0]}` : undefined
}
