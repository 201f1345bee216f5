/** Serves the web pages, their assets, the documentation and the OpenAPI document (interface §4.8). @module */

import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { packageFile, version } from '../config/package.js'
import type { Config } from '../config/settings.js'
import { codeOf } from '../config/usage-error.js'
import { ApiError } from '../interface/errors.js'
import type { ListGuarantees } from '../interface/openapi.js'
import { documentFolders, documentPath, type HeaderList, pagePaths } from '../interface/paths.js'
import { answerBytes, answerEmpty } from './answer.js'
import { type EntityTag, entityTag, isNotModified } from './conditions.js'
import type { Exchange, Guard, Handler, Route } from './exchange.js'
import { originOf, prefixOf } from './forwarded.js'

const codings = ['br', 'gzip', 'identity'] as const // from the smallest output to the largest
type ContentCoding = (typeof codings)[number]

const endings: Record<ContentCoding, string> = { br: '.br', gzip: '.gz', identity: '' }

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
}

const built = 'dist/pages/'

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

/** A page keeps its URL, so browsers must revalidate it. A changed asset gets a new name. */
const pageCaching: HeaderList = ['Cache-Control', 'no-cache']
const assetCaching: HeaderList = ['Cache-Control', 'public, max-age=31536000, immutable']
const fileName = /^[\w-]+(?:\.[\w-]+)*$/ // requested names; none leads out of the folder

export function createPageRoutes(
  { docs, console }: Config,
  guards: readonly Guard[],
  lists: ListGuarantees,
): Route[] {
  const route = (path: string, GET: Handler): Route => ({ path, guards, handlers: { GET } })
  const page = (path: string, file: string) =>
    route(path, (exchange) => {
      // Redirects a path that ends in a slash, because the page's relative URLs would be resolved wrongly from there.
      if (exchange.path.length > 1 && exchange.path.endsWith('/'))
        return answerEmpty(exchange, 308, ['Location', `..${path}`])
      return answerFile(exchange, file, pageCaching)
    })
  const folder = (path: string, from: string, kinds: string[], headers: HeaderList) =>
    route(`${path}/{name}`, async (exchange) => {
      const name = exchange.segment
      if (!fileName.test(name) || !kinds.includes(extname(name))) throw notFound(exchange)
      await answerFile(exchange, `${from}/${name}`, headers)
    })
  // `index.html` links to the other page, `alone.html` does not.
  const variant = docs && console ? 'index.html' : 'alone.html'
  const assets = folder(pagePaths.assets, `${built}assets`, ['.js', '.css', '.svg'], assetCaching)
  return [
    ...(console ? [page(pagePaths.items, `${built}items/${variant}`)] : []),
    ...(docs || console ? [assets] : []),
    ...(docs
      ? [
          route(documentPath, createDocumentHandler(lists)),
          page(pagePaths.docs, `${built}docs/${variant}`),
          page(pagePaths.index, 'docs/llms.txt'),
          page(pagePaths.security, 'SECURITY.md'),
          ...documentFolders.map((path) => folder(path, path.slice(1), ['.md'], pageCaching)),
        ]
      : []),
  ]
}

const anyRoot = '{root}' // the service's URL; the document is built once for all clients

function createDocumentHandler(lists: ListGuarantees): Handler {
  let pieces: string[] | undefined

  return async function answerDocument(exchange) {
    const { openApiDocument } = await import('../interface/openapi.js')
    pieces ??= JSON.stringify(openApiDocument(version, lists, anyRoot)).split(anyRoot)
    const root = (originOf(exchange) ?? '') + prefixOf(exchange)
    const text = Buffer.from(pieces.join(JSON.stringify(root).slice(1, -1)))
    const tag = entityTag(text)
    const headers = ['ETag', tag, 'Cache-Control', 'no-cache']
    if (isNotModified(exchange, tag)) return answerEmpty(exchange, 304, headers)
    const type = ['Content-Type', 'application/json']
    return answerBytes(exchange, text, [...type, ...headers])
  }
}

/** Sends the whole file, even to a request with `Range`, which servers may ignore (RFC 9110 §14.2). */
async function answerFile(exchange: Exchange, file: string, cache: HeaderList): Promise<void> {
  const isBuilt = file.startsWith(built)
  const accepted = exchange.request.headers['accept-encoding']?.toString()
  const coding = isBuilt ? smallestCoding(accepted) : 'identity'
  const { bytes, tag } = await read(file + endings[coding], exchange)
  const vary = isBuilt ? ['Vary', 'Accept-Encoding'] : []
  const headers = ['ETag', tag, ...vary, ...cache, ...securityHeaders]
  if (isNotModified(exchange, tag)) return answerEmpty(exchange, 304, headers)
  headers.push('Content-Type', types[extname(file)] ?? 'application/octet-stream')
  if (coding !== 'identity') headers.push('Content-Encoding', coding)
  return answerBytes(exchange, bytes, headers)
}

const forbidden = /(?:br|gzip)[ \t]*;[ \t]*q=0(?:\.0*)?[ \t]*(?=,|$)/g

/** Returns the accepted coding that makes the body smallest, whatever the weights (RFC 9110 §12.5.3). */
function smallestCoding(acceptEncoding = ''): ContentCoding {
  const accepted = acceptEncoding
    .toLowerCase()
    .replaceAll(forbidden, '')
    .split(/[ \t,;]+/)
  return codings.find((coding) => accepted.includes(coding)) ?? 'identity'
}

function notFound({ path }: Exchange): ApiError {
  return new ApiError('ROUTE_NOT_FOUND', `${path} is not a file of this service`)
}

const knownFiles = new Map<string, { readonly bytes: Buffer; readonly tag: EntityTag }>()

/** Reads and caches a file of the package, but no error: the file may become readable again. */
async function read(file: string, exchange: Exchange) {
  const known = knownFiles.get(file)
  if (known !== undefined) return known
  try {
    const bytes = await readFile(packageFile(file))
    const found = { bytes, tag: entityTag(bytes) }
    knownFiles.set(file, found)
    return found
  } catch (error) {
    throw codeOf(error) === 'ENOENT' ? notFound(exchange) : error
  }
}
