/** Parses the addresses of clusters and sentinels in `STORE_URL`. @module */

export interface ClusterAddress {
  /** Hosts of some servers of the cluster, with ports if given. */
  readonly hosts: readonly string[]
  readonly urlOf: (host: string) => string
}

const clusterUrl = /^(rediss?)\+cluster:\/\/([^@/?#:]*:[^@/?#]+@)?([^@/?#]+)$/

export function clusterAddress(url: string): ClusterAddress | undefined {
  const [, scheme, credentials = '', names = ''] = clusterUrl.exec(url) ?? []
  const hosts = names.split(',')
  const urlOf = (host: string) => `${scheme}://${credentials}${host}`
  if (!hosts.every((host) => isHost(host, urlOf(host)))) return undefined
  return { hosts, urlOf }
}

export interface SentinelAddress {
  readonly hosts: readonly string[]
  /** Name of the primary in the configuration of the sentinels. */
  readonly name: string
  readonly sentinelUrl: (host: string, hasCredentials: boolean) => string
  readonly serverUrl: (host: string) => string
}

const sentinelUrl = /^(rediss?)\+sentinel:\/\/([^@/?#:]*:[^@/?#]+@)?([^@/?#]+)\/([\w.-]+)(\/\d*)?$/
const sentinelPort = 26_379

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

export function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//')
}

function isHost(host: string, url: string): boolean {
  return host !== '' && !/:0*$/.test(host) && URL.canParse(url)
}
