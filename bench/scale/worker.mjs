/**
 * Work in a process of its own on the core of the load: the load and the probe must not share an
 * event loop. One process asks, the other answers; one question at a time.
 */

import { join } from 'node:path'
import { benchFolder } from '../lib/install.mjs'
import { cores, start } from '../lib/processes.mjs'

/** Starts the script `name` of this folder and returns a function that asks it. */
export function startWorker(name, { port, token }) {
  const child = start({
    args: [join(benchFolder, 'scale', `${name}.mjs`), String(port), token],
    core: cores.load,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const ask = (action, input) =>
    new Promise((resolve, reject) => {
      child.once('message', ({ value, error }) => {
        if (error === undefined) resolve(value)
        else reject(new Error(`${name}, ${action}: ${error}`))
      })
      child.ended.then(() => reject(new Error(`${name} ended: ${child.errorOutput}`)))
      child.send({ action, input })
    })
  return { child, ask }
}

/** Answers questions, in the worker: each action is a function of its input. */
export function answerWith(actions) {
  process.on('message', async ({ action, input }) => {
    try {
      process.send({ value: await actions[action](input) })
    } catch (error) {
      process.send({ error: error.message })
    }
  })
}

/** What the worker was started with. */
export function workerArguments() {
  const [port, token] = process.argv.slice(2)
  return { port: Number(port), headers: { Authorization: `Bearer ${token}` } }
}
