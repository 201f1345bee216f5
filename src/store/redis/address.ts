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
  const isHost = (host: string) => host !== '' && !/:0+$/.test(host) && URL.canParse(urlOf(host))
  if (!hosts.every(isHost)) return undefined
  return { hosts, urlOf }
}
