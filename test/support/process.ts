/** Measures the memory of processes, and finds free ports on this machine. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { after } from 'node:test'
import type { OwnProcess } from './own-process.js'

export function residentBytes({ child }: { child: Pick<OwnProcess['child'], 'pid'> }): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

/** Port ranges of test processes, below the ports that Linux gives to clients (32768 and above). */
const ports = { first: 20_000, ofProcess: 100, processes: 120 }

let ownPorts: Promise<number> | undefined
let usedPorts = 0

/** Returns a free port that no other test file gets while this file runs. */
export async function freePort(): Promise<number> {
  ownPorts ??= claimPorts()
  const first = await ownPorts
  for (;;) {
    usedPorts += 1
    assert.ok(usedPorts < ports.ofProcess)
    const port = first + usedPorts
    const server = await listening(port)
    if (server === undefined) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** Claims a range of ports by listening on its first port until this process ends. */
async function claimPorts(): Promise<number> {
  for (let place = process.pid; ; place += 1) {
    const first = ports.first + ports.ofProcess * (place % ports.processes)
    const server = await listening(first)
    if (server === undefined) continue
    server.unref()
    return first
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
