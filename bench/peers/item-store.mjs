/** Side `item-store`: this service, started as its users start it, with the default settings. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/ready.mjs'
import { startServer } from '../lib/processes.mjs'
import { createItems, interfaceRequests } from './interface.mjs'

export default side({
  name: 'item-store',
  about: 'this service: `item-store serve` with default settings',
  folder: root,
})

/** Side `item-store@COMMIT`: the service as of another commit, see `buildRevision`. */
export function itemStoreAt({ commit, folder }) {
  return side({
    name: `item-store@${commit}`,
    about: `this service as of commit ${commit}, built and measured in the same run`,
    folder,
  })
}

function side({ name, about, folder }) {
  /** The command with these arguments; its file is not the same in all commits. */
  const command = (...args) => {
    const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return { args: [join(folder, bin['item-store']), ...args] }
  }

  const program = ({ port, secret }) => ({
    ...command('serve'),
    env: { HOST: '127.0.0.1', PORT: String(port), JWT_SECRET: secret },
  })

  return {
    name,
    about,
    token: true,
    requests: interfaceRequests,
    create: createItems,
    command,
    program,

    async start({ port, secret }) {
      return { programs: [await startServer({ port, ...program({ port, secret }) })] }
    },
  }
}
