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

/** Port ranges, one for each process. All ranges are below port 32768, the first port that Linux gives to clients. */
const ports = { first: 20_000, ofProcess: 100, processes: 120 }

/** The first port in the range of this process, and the number of ports in the range that are used so far. */
let ownPorts: Promise<number> | undefined
let usedPorts = 0

/** Returns a port on which nothing listens. No other test file gets the port while this test file runs. */
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

/**
 * Claims a range of ports by listening on the first port of the range until this process ends.
 * @returns the first port.
 */
async function claimPorts(): Promise<number> {
  for (let place = process.pid; ; place += 1) {
    const first = ports.first + ports.ofProcess * (place % ports.processes)
    const server = await listening(first)
    if (server === undefined) continue
    server.unref()
    return first
  }
}

/** Listens on a port. @returns the server, or `undefined` if the port is in use. */
async function listening(port: number): Promise<Server | undefined> {
  const server = createServer()
  return await listen(server, port).then(
    () => server,
    () => undefined,
  )
}

/** Returns a port on which a server listens until the test is over. */
export async function portInUse(): Promise<number> {
  const server = createServer()
  after(() => server.close())
  return await listen(server)
}

/** Makes a server listen on 127.0.0.1. @param port a free port by default. @returns the port. */
export async function listen(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return address.port
}
