/** Parses the addresses of clusters and sentinels in `STORE_URL`, and joins hosts and ports. @module */

import { URL } from 'node:url'

const clusterUrl = /^(rediss?)\+cluster:\/\/([^@/?#:]*:[^@/?#]+@)?([^@/?#]+)$/

export type ClusterAddress = NonNullable<ReturnType<typeof clusterAddress>>

export function clusterAddress(url: string) {
  const [, scheme, credentials = '', names = ''] = clusterUrl.exec(url) ?? []
  const hosts = names.split(',')
  if (!hosts.every(isHost)) return undefined
  return { hosts, urlOf: (host: string) => `${scheme}://${credentials}${host}` }
}

const sentinelUrl = /^(rediss?)\+sentinel:\/\/([^@/?#:]*:[^@/?#]+@)?([^@/?#]+)\/([\w.-]+)(\/\d*)?$/
const sentinelPort = 26_379

export type SentinelAddress = NonNullable<ReturnType<typeof sentinelAddress>>

/** Returns the hosts and ports of the sentinels, and their name for the primary. */
export function sentinelAddress(url: string) {
  const [, scheme, credentials = '', names = '', name = '', database = ''] =
    sentinelUrl.exec(url) ?? []
  const hosts = names
    .split(',')
    .map((host) => (host === '' || /:\d*$/.test(host) ? host : `${host}:${sentinelPort}`))
  if (!hosts.every(isHost)) return undefined
  return {
    hosts,
    name,
    sentinelUrl: (host: string, hasCredentials: boolean) =>
      `${scheme}://${hasCredentials ? credentials : ''}${host}`,
    serverUrl: (host: string) => `${scheme}://${credentials}${host}${database}`,
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
