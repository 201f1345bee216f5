/** Programs of the run in processes of their own: one process asks, the other answers, one question at a time. */

import { join } from 'node:path'
import { benchFolder } from '../lib/install.mjs'
import { start } from '../lib/processes.mjs'

/** @import { Child } from '../lib/processes.mjs' */

/**
 * What a worker does when it is asked. Inputs and results are sent as JSON.
 * @typedef {Record<string, (...inputs: never[]) => unknown>} Actions
 */

/** @typedef {{ action: string, inputs: never[] }} Question inputs that `ask` has checked against the action */

/**
 * A worker's process, and a function that asks it.
 * @template {Actions} A
 * @typedef {object} Worker
 * @property {Child} child
 * @property {<Name extends keyof A>(action: Name, ...inputs: Parameters<A[Name]>) =>
 *   Promise<Awaited<ReturnType<A[Name]>>>} ask
 */

/**
 * Starts a script of this folder on a core, which calls `answerWith`.
 * @template {Actions} A the actions of that script
 * @param {{ name: string, core: number, flags?: string[], args: (string | number)[] }} script
 * @returns {Worker<A>}
 */
export function startWorker({ name, core, flags = [], args }) {
  const child = start({
    args: [...flags, join(benchFolder, 'scale', `${name}.mjs`), ...args.map(String)],
    core,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  return {
    child,
    ask: (action, ...inputs) =>
      new Promise((resolve, reject) => {
        child.once('message', (message) => {
          const { value } = /** @type {{ value: Parameters<typeof resolve>[0] }} */ (message) // by answerWith
          resolve(value)
        })
        child.ended.then(() => reject(new Error(`${name} ended: ${child.errorOutput}`)))
        child.send({ action, inputs })
      }),
  }
}

/**
 * Answers questions, in the worker. An action that fails ends the process, and so tells the asker.
 * @param {Actions} actions
 */
export function answerWith(actions) {
  process.on('message', async (message) => {
    const { action, inputs } = /** @type {Question} */ (message) // sent by ask
    process.send?.({ value: await actions[action]?.(...inputs) })
  })
}
