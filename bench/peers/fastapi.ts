/** The benchmarked server `fastapi`: the same interface in Python, run by uvicorn. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from '../../test/support/tools.js'
import { createItems } from '../lib/connections.js'
import { startServer } from '../lib/processes.js'
import type { Side } from './sides.js'

const python = '/usr/bin/python3' // the operating system's Python, for which FastAPI is a system package
const printVersions = `
import platform, fastapi, httptools, jwt, pydantic, uvicorn, uvloop
print(f"Python {platform.python_version()}, fastapi {fastapi.__version__}, pydantic {pydantic.VERSION}, uvicorn {uvicorn.__version__}")
`

export default {
  name: 'fastapi',
  about:
    'the same interface in FastAPI with response models, as in its tutorial: one uvicorn worker with uvloop and httptools, no access log',
  // Pipelining is measured only with Node.js servers. FastAPI would take over a minute for the longest list.
  skips: ['create-pipelined', 'list-100000'],
  create: createItems,

  version() {
    const { status, stdout } = spawnSync(python, ['-c', printVersions], { encoding: 'utf8' })
    return status === 0 ? stdout.trim() : undefined
  },

  async start({ port, secret }) {
    const args = [
      ...['-m', 'uvicorn', 'fastapi_app:app', '--app-dir', join(root, 'bench/peers')],
      ...['--host', '127.0.0.1', '--port', String(port), '--loop', 'uvloop', '--http', 'httptools'],
      ...['--workers', '1', '--log-level', 'warning', '--no-access-log'],
    ]
    const env = { JWT_SECRET: secret, PYTHONDONTWRITEBYTECODE: '1' }
    return [await startServer({ port, command: python, args, env })]
  },
} satisfies Side
