/** Runs programs to their end, measures the memory of processes, and finds free ports on this machine. */

import assert from 'node:assert/strict'
import { type SpawnSyncOptions, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { after } from 'node:test'
import type { OwnProcess } from './own-process.js'

/** Returns the standard output of a program that has ended. @throws {AssertionError} if its exit code is not 0. */
export function outputOf(
  program: string,
  args: readonly string[],
  options: SpawnSyncOptions = {},
): string {
  const all = { timeout: 600_000, ...options, encoding: 'utf8' } as const
  const { status, error, stdout, stderr } = spawnSync(program, args, all)
  const says = `${error?.message ?? ''}\n${stdout}${stderr}`
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${says}`)
  return stdout
}

export function residentBytes({ child }: { child: Pick<OwnProcess['child'], 'pid'> }): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

/** Port ranges for test processes, below the ports that Linux assigns to clients (32768 and above). */
const ranges = { first: 20_000, length: 100, count: 120 }

const freePorts = portsOfThisProcess()

/** Returns a free port that no other test file gets while this file runs. */
export async function freePort(): Promise<number> {
  return (await freePorts.next()).value
}

/** Claims a range of ports by listening on the range's first port until this process ends. */
async function* portsOfThisProcess(): AsyncGenerator<number, never, void> {
  for (let place = process.pid; ; place += 1) {
    const first = ranges.first + ranges.length * (place % ranges.count)
    const claim = await listening(first)
    claim?.unref()
    for (let port = first + 1; claim && port < first + ranges.length; port += 1) {
      const server = await listening(port)
      if (server === undefined) continue
      server.close()
      await once(server, 'close')
      yield port
    }
  }
}

async function listening(port: number): Promise<Server | undefined> {
  const server = createServer()
  return await listen(server, port).then(
    () => server,
    () => undefined,
  )
}

export async function portInUse(): Promise<number> {
  const server = createServer()
  after(() => server.close())
  return await listen(server)
}

export async function listen(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return address.port
}
