/** The addresses of engines: what `STORE_URL` says. @module */

/** Where a cluster is found. */
export interface ClusterAddress {
  /** Host and port, if given, of some of its servers: the others are asked of them. */
  readonly hosts: readonly string[]
  /** The URL of one of its servers, by host and port. */
  readonly urlOf: (host: string) => string
}

const clusterUrl = /^(rediss?)(\+cluster)?:\/\/([^@/?#:]*:[^@/?#]+@)?([^@/?#]+)$/

/** @returns `undefined` for the URL of a single server, or of anything else. */
export function clusterAddress(url: string): ClusterAddress | undefined {
  const [, scheme, mark, credentials = '', names = ''] = clusterUrl.exec(url) ?? []
  const hosts = names.split(',')
  if (mark === undefined && hosts.length === 1) return undefined
  const urlOf = (host: string) => `${scheme}://${credentials}${host}`
  if (!hosts.every((host) => isHost(host, urlOf(host)))) return undefined
  return { hosts, urlOf }
}

/** Where sentinels are found, and what they watch. */
export interface SentinelAddress {
  /** Host and port of each. */
  readonly hosts: readonly string[]
  /** Of the primary and its replicas. */
  readonly name: string
  readonly sentinelUrl: (host: string, hasCredentials: boolean) => string
  /** The URL of a server, by host and port. */
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

/** An address to show, without user and password. */
export function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//')
}

function isHost(host: string, url: string): boolean {
  return host !== '' && !/:0*$/.test(host) && URL.canParse(url)
}
