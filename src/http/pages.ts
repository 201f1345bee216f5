/** The pages for people, and the files that they load (spec §4.8). @module */

import { readdir, readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { ApiError } from '../interface/errors.js'
import type { HeaderList } from '../interface/headers.js'
import { pagePaths } from '../interface/paths.js'
import { require } from '../require.js'
import { answerBytes, answerEmpty } from './answer.js'
import { type EntityTag, entityTag, isNotModified } from './conditions.js'
import { type ContentCoding, preferredCoding } from './content-coding.js'
import type { Exchange, Guard, Handler, Route } from './exchange.js'

export interface PageOptions {
  /** Whether the API page and the OpenAPI document are served. */
  readonly docs: boolean
  /** Whether the items page is served. */
  readonly console: boolean
}

/** A file in one of its content codings. */
interface Representation {
  readonly bytes: Buffer
  readonly tag: EntityTag
}

/** The suffix that the build adds to the name of a compressed file. */
const endings: Record<ContentCoding, string> = { br: '.br', gzip: '.gz', identity: '' }

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * A page may load only what this service serves, has no inline script or style, turns no text into markup,
 * cannot be framed, and sends no referrer.
 */
const securityHeaders: HeaderList = [
  'Content-Security-Policy',
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
]

/** A page keeps its address after an update, so it must be revalidated; a changed file has another name. */
const caching = {
  page: ['Cache-Control', 'no-cache'],
  asset: ['Cache-Control', 'public, max-age=31536000, immutable'],
} satisfies Record<string, HeaderList>

/**
 * The routes of the pages that are turned on. A file is read once for each coding, when it is first
 * requested.
 */
export function createPageRoutes(
  { docs, console }: PageOptions,
  guards: readonly Guard[],
): Route[] {
  const files = createFiles()
  const page = (path: string, file: string, headers: HeaderList = []): Route => ({
    path,
    guards,
    handlers: {
      GET: (exchange) => answerFile(exchange, files, file, [...caching.page, ...headers]),
    },
  })
  // They tell each page whether there is the other one to link to (RFC 8631 §4.1, RFC 8288 §3).
  const docsLink = docs ? ['Link', `<${pagePaths.docs}>; rel="service-doc"`] : []
  const itemsLink = console ? ['Link', `<${pagePaths.items}>; rel="related"`] : []
  const routes = [
    ...(docs ? [page(pagePaths.docs, 'docs/index.html', itemsLink)] : []),
    ...(console ? [page(pagePaths.items, 'items/index.html', docsLink)] : []),
  ]
  return routes.length === 0
    ? []
    : [...routes, { path: pagePaths.asset, guards, handlers: { GET: assetHandler(files) } }]
}

function assetHandler(files: Files): Handler {
  return async function answerAsset(exchange) {
    // Only a name in the list becomes a path, so that no client can choose one.
    const { name = '' } = exchange.params
    if (!(await files.assetNames()).has(name)) {
      throw new ApiError('ROUTE_NOT_FOUND', `${exchange.path} is not a file of the pages`)
    }
    await answerFile(exchange, files, `assets/${name}`, caching.asset)
  }
}

/** Ranges are not supported: a request for one gets the whole file (RFC 9110 §14.2). */
async function answerFile(
  exchange: Exchange,
  files: Files,
  file: string,
  cacheHeaders: HeaderList,
): Promise<void> {
  const coding = preferredCoding(exchange.request.headers['accept-encoding']?.toString())
  const { bytes, tag } = await files.read(file + endings[coding])
  const headers = ['ETag', tag, 'Vary', 'Accept-Encoding', ...cacheHeaders, ...securityHeaders]
  if (isNotModified(exchange, tag)) {
    answerEmpty(exchange, 304, headers)
    return
  }
  headers.push('Content-Type', types[extname(file)] ?? 'application/octet-stream')
  if (coding !== 'identity') headers.push('Content-Encoding', coding)
  answerBytes(exchange, 200, bytes, headers)
}

interface Files {
  /** The names that assets are served under. */
  assetNames(): Promise<ReadonlySet<string>>
  /** @param file relative to the folder of the pages. */
  read(file: string): Promise<Representation>
}

/** The files made by the build. They are located through the package, since this code may be bundled. */
function createFiles(): Files {
  let names: Promise<ReadonlySet<string>> | undefined
  const known = new Map<string, Promise<Representation>>()
  const folder = () => join(dirname(require.resolve('item-store/package.json')), 'dist/pages')

  return {
    assetNames() {
      names ??= readdir(join(folder(), 'assets')).then(
        (all) => new Set(all.filter((name) => extname(name) in types)),
        (error: unknown) => {
          names = undefined // as in document.ts: the next attempt may succeed
          throw error
        },
      )
      return names
    },

    read(file) {
      const found = known.get(file)
      if (found !== undefined) return found
      const read = readFile(join(folder(), file)).then(
        (bytes) => ({ bytes, tag: entityTag(bytes) }),
        (error: unknown) => {
          known.delete(file)
          throw error
        },
      )
      known.set(file, read)
      return read
    },
  }
}
