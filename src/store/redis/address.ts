/** The addresses that `STORE_URL` may have. @module */

export interface ClusterAddress {
  /** Host and port, if given, of some of the servers, which know the others. */
  readonly hosts: readonly string[]
  /** Returns the URL of a server by host and port. */
  readonly urlOf: (host: string) => string
}

const clusterUrl = /^(rediss?)\+cluster:\/\/([^@/?#:]*:[^@/?#]+@)?([^@/?#]+)$/

/** @returns `undefined` for the URL of anything else. */
export function clusterAddress(url: string): ClusterAddress | undefined {
  const [, scheme, credentials = '', names = ''] = clusterUrl.exec(url) ?? []
  const hosts = names.split(',')
  const urlOf = (host: string) => `${scheme}://${credentials}${host}`
  if (!hosts.every((host) => isHost(host, urlOf(host)))) return undefined
  return { hosts, urlOf }
}

export interface SentinelAddress {
  /** Host and port of each sentinel. */
  readonly hosts: readonly string[]
  /** Name of the primary in the configuration of the sentinels. */
  readonly name: string
  readonly sentinelUrl: (host: string, hasCredentials: boolean) => string
  /** Returns the URL of a server by host and port. */
  readonly serverUrl: (host: string) => string
}

const sentinelUrl = /^(rediss?)\+sentinel:\/\/([^@/?#:]*:[^@/?#]+@)?([^@/?#]+)\/([\w.-]+)(\/\d*)?$/
const sentinelPort = 26_379

/** @returns `undefined` for a URL of anything else. */
export function sentinelAddress(url: string): SentinelAddress | undefined {
  const [, scheme, credentials = '', names, name, database = ''] = sentinelUrl.exec(url) ?? []
  if (names === undefined || name === undefined) return undefined
  const hosts = names
    .split(',')
    .map((host) => (host === '' || /:\d*$/.test(host) ? host : `${host}:${sentinelPort}`))
  if (!hosts.every((host) => isHost(host, `${scheme}://${host}`))) return undefined
  return {
    hosts,
    name,
    sentinelUrl: (host, hasCredentials) =>
      `${scheme}://${hasCredentials ? credentials : ''}${host}`,
    serverUrl: (host) => `${scheme}://${credentials}${host}${database}`,
  }
}

/** Returns an address that may be shown, without user and password. */
export function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//')
}

function isHost(host: string, url: string): boolean {
  return host !== '' && !/:0*$/.test(host) && URL.canParse(url)
}
