/** Parses the addresses of clusters and sentinels in `STORE_URL`. @module */

export interface ClusterAddress {
  /** Hosts of some servers of the cluster, with ports if given. These servers know the other servers. */
  readonly hosts: readonly string[]
  /** Returns the URL of a server with credentials, from its host and port. */
  readonly urlOf: (host: string) => string
}

const clusterUrl = /^(rediss?)\+cluster:\/\/([^@/?#:]*:[^@/?#]+@)?([^@/?#]+)$/

/** Parses the URL of a cluster. @returns `undefined` for any other URL. */
export function clusterAddress(url: string): ClusterAddress | undefined {
  const [, scheme, credentials = '', names = ''] = clusterUrl.exec(url) ?? []
  const hosts = names.split(',')
  const urlOf = (host: string) => `${scheme}://${credentials}${host}`
  if (!hosts.every((host) => isHost(host, urlOf(host)))) return undefined
  return { hosts, urlOf }
}

export interface SentinelAddress {
  /** Host and port of each sentinel, as `host:port`. */
  readonly hosts: readonly string[]
  /** Name of the primary in the configuration of the sentinels. */
  readonly name: string
  /** Returns the URL of a sentinel, with or without the credentials of the server. */
  readonly sentinelUrl: (host: string, hasCredentials: boolean) => string
  /** Returns the URL of a server with credentials and database, from its host and port. */
  readonly serverUrl: (host: string) => string
}

const sentinelUrl = /^(rediss?)\+sentinel:\/\/([^@/?#:]*:[^@/?#]+@)?([^@/?#]+)\/([\w.-]+)(\/\d*)?$/
const sentinelPort = 26_379

/** Parses the URL of a primary that sentinels watch. @returns `undefined` for any other URL. */
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

/** Returns a URL without user and password, so that the URL may be logged. */
export function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//')
}

function isHost(host: string, url: string): boolean {
  return host !== '' && !/:0*$/.test(host) && URL.canParse(url)
}
