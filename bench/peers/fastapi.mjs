/** Two sides with the same interface in Python, run by uvicorn with its fast event loop and parser. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { benchFolder } from '../lib/install.mjs'
import { startServer } from '../lib/processes.mjs'
import { createItems, interfaceRequests } from './interface.mjs'

const python = '/usr/bin/python3' // the distribution's own, which sees the distribution's packages
const probe = `
import platform, fastapi, httptools, jwt, pydantic, uvicorn, uvloop
print(f"Python {platform.python_version()}, fastapi {fastapi.__version__}, pydantic {pydantic.VERSION}, uvicorn {uvicorn.__version__}")
`

export const fastapi = {
  ...side('fastapi', 'response models, as in the FastAPI tutorial', {}),
  leavesOut: ['list-100000'], // each turn would take more than a minute
}

export const fastapiJson = side('fastapi-json', '`JSONResponse` instead of response models', {
  FAST_RESPONSES: '1',
})

function side(name, responses, env) {
  return {
    name,
    about: `the same interface in FastAPI with ${responses}: one uvicorn worker with uvloop and httptools, no access log`,
    token: true,
    requests: interfaceRequests,
    create: createItems,
    version,

    async start({ port, secret }) {
      const options = [
        '--loop',
        'uvloop',
        '--http',
        'httptools',
        '--workers',
        '1',
        '--no-access-log',
      ]
      const child = await startServer({
        port,
        command: python,
        args: ['-m', 'uvicorn', 'fastapi_app:app', '--host', '127.0.0.1', '--port', String(port)]
          .concat(options)
          .concat(['--log-level', 'warning', '--app-dir', join(benchFolder, 'peers')]),
        env: { ...env, JWT_SECRET: secret, PYTHONDONTWRITEBYTECODE: '1' },
      })
      return { programs: [child] }
    },
  }
}

function version() {
  const { status, stdout } = spawnSync(python, ['-c', probe], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}
