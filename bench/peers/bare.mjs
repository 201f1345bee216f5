/** Side `bare`: Node's own HTTP server as it is usually used, each response sent at once. */

import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { startServer } from '../lib/processes.mjs'

/** @import { StartOptions } from './sides.mjs' */

const server = fileURLToPath(new URL('bare-server.mjs', import.meta.url))

export default {
  name: 'bare',
  about:
    'bare `node:http`: responses with the same headers and bytes, prepared in advance; no routing, token or store',
  create: async (/** @type {object} */ _server, /** @type {number} */ count) =>
    Array.from({ length: count }, () => randomUUID()),
  program,

  /** @param {StartOptions} options */
  start: async (options) => [await startServer({ port: options.port, ...program(options) })],
}

/**
 * The server has no items: a list is prepared when it starts.
 * @param {{ port: number, list?: number }} options
 */
function program({ port, list = 0 }) {
  return { args: [server, String(port), String(list)] }
}
