/** Parses the address in `STORE_URL`, and joins hosts and ports. @module */

import { URL } from 'node:url'

const urlForm = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/([^@/?#:]*:[^@/?#]+@)?([^@/?#]+)([^?#]*)$/
const pathForms = {
  server: /^()(\/\d*)?$/,
  sentinel: /^\/([\w.-]+)(\/\d*)?$/,
  cluster: /^()()$/,
}
const sentinelPort = 26_379

export type Address = NonNullable<ReturnType<typeof addressIn>>

/**
 * Returns the address of a server, cluster or sentinels; `undefined` for a socket. `name` is the name that
 * sentinels use for the primary.
 */
export function addressIn(url: string) {
  const [, scheme, several, credentials = '', names = '', path = ''] = urlForm.exec(url) ?? []
  const kind = several === 'sentinel' || several === 'cluster' ? several : 'server'
  const [, name, database = ''] = pathForms[kind].exec(path) ?? []
  const isPortMissing = (host: string) => kind === 'sentinel' && !/^$|:\d*$/.test(host)
  const hosts = names
    .split(',')
    .map((host) => host + (isPortMissing(host) ? `:${sentinelPort}` : ''))
  const isValid = hosts.every(isHost) && (kind !== 'server' || hosts.length === 1)
  if (name === undefined || !isValid) return undefined
  return {
    kind,
    hosts,
    name,
    urlOf: (host: string) => `${scheme}://${credentials}${host}${database}`,
    sentinelUrl: (host: string, hasCredentials: boolean) =>
      `${scheme}://${hasCredentials ? credentials : ''}${host}`,
  }
}

/** Joins a host and a port. @param sender address of the server that sent both, whose host replaces an empty one. */
export function hostAndPort(host?: string, port?: string, sender = ''): string {
  if (host === '') return sender.replace(/(:\d+)?$/, `:${port}`)
  return host?.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

export function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//')
}

function isHost(host: string): boolean {
  return host !== '' && !/:0*$/.test(host) && URL.canParse(`redis://${host}`)
}
