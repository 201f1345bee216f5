/** The pages for people, the files that they load, and the documents (interface §4.8). @module */

import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { packageFile } from '../config/package.js'
import type { Config } from '../config/settings.js'
import { ApiError } from '../interface/errors.js'
import { documentFolders, type HeaderList, pagePaths } from '../interface/names.js'
import { answerBytes, answerEmpty } from './answer.js'
import { type EntityTag, entityTag, isNotModified } from './conditions.js'
import type { Exchange, Guard, Handler, Route } from './exchange.js'

/** The content codings that the files of the pages come in, the one with the shortest result first. */
const codings = ['br', 'gzip', 'identity'] as const
type ContentCoding = (typeof codings)[number]

/** Weight of `identity` for a client that does not mention it: a last resort. */
const unmentioned = 0.0005

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
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
}

/** Where the build puts the pages, all of them in each content coding; the documents have none. */
const built = 'dist/pages/'

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
  { docs, console }: Pick<Config, 'docs' | 'console'>,
  guards: readonly Guard[],
): Route[] {
  const files = createFiles()
  const page = (path: string, file: string): Route => ({
    path,
    guards,
    handlers: { GET: (exchange) => answerFile(exchange, files, file, caching.page) },
  })
  // `index.html` links to the other page, `alone.html` does not.
  const variant = docs && console ? 'index.html' : 'alone.html'
  const routes = [
    ...(docs ? [page(pagePaths.docs, `${built}docs/${variant}`)] : []),
    ...(console ? [page(pagePaths.items, `${built}items/${variant}`)] : []),
  ]
  const fileIn = (path: string, folder: string, kinds: string[], headers: HeaderList): Route => ({
    path,
    guards,
    handlers: { GET: folderHandler(files, folder, kinds, headers) },
  })
  const assets = fileIn(pagePaths.asset, `${built}assets`, ['.js', '.css', '.svg'], caching.asset)
  const documents = documentFolders.map((folder) =>
    fileIn(`${folder}/{name}`, folder.slice(1), ['.md'], caching.page),
  )
  return [
    ...(routes.length === 0 ? [] : [...routes, assets]),
    ...(docs ? [page(pagePaths.index, 'docs/llms.txt'), ...documents] : []),
    ...(docs ? [page(pagePaths.security, 'SECURITY.md')] : []),
  ]
}

/** @param kinds extensions of the files in the folder that are served. */
function folderHandler(
  files: Files,
  folder: string,
  kinds: readonly string[],
  headers: HeaderList,
): Handler {
  return async function answerNamed(exchange) {
    // Only a name in the list becomes a path, so that no client can choose one.
    const { name = '' } = exchange.params
    if (!kinds.includes(extname(name)) || !(await files.namesIn(folder)).has(name)) {
      throw new ApiError('ROUTE_NOT_FOUND', `${exchange.path} is not a file of this service`)
    }
    await answerFile(exchange, files, `${folder}/${name}`, headers)
  }
}

/** Ranges are not supported: a request for one gets the whole file (RFC 9110 §14.2). */
async function answerFile(
  exchange: Exchange,
  files: Files,
  file: string,
  cacheHeaders: HeaderList,
): Promise<void> {
  const isBuilt = file.startsWith(built)
  const accepted = exchange.request.headers['accept-encoding']?.toString()
  const coding = isBuilt ? preferredCoding(accepted) : 'identity'
  const { bytes, tag } = await files.read(file + endings[coding])
  const vary = isBuilt ? ['Vary', 'Accept-Encoding'] : []
  const headers = ['ETag', tag, ...vary, ...cacheHeaders, ...securityHeaders]
  if (isNotModified(exchange, tag)) {
    answerEmpty(exchange, 304, headers)
    return
  }
  headers.push('Content-Type', types[extname(file)] ?? 'application/octet-stream')
  if (coding !== 'identity') headers.push('Content-Encoding', coding)
  answerBytes(exchange, 200, bytes, headers)
}

/**
 * The coding that the client prefers; of equal ones, the one with the shortest result (RFC 9110 §12.5.3).
 * @param acceptEncoding the header; without it, or if it allows nothing, nothing is compressed.
 */
function preferredCoding(acceptEncoding = ''): ContentCoding {
  const weights = weightsIn(acceptEncoding)
  const weightOf = (coding: ContentCoding) =>
    weights.get(coding) ?? weights.get('*') ?? (coding === 'identity' ? unmentioned : 0)
  const [best] = codings
    .filter((coding) => weightOf(coding) > 0)
    .sort((one, other) => weightOf(other) - weightOf(one)) // stable: equals stay in order
  return best ?? 'identity'
}

/** The weight of each coding, in lower case: from 0, not acceptable, to 1. */
function weightsIn(header: string): Map<string, number> {
  const part = /^\s*([^\s;]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/i
  const entries = header.split(',').flatMap((text) => {
    const [, name, weight = '1'] = part.exec(text) ?? []
    return name === undefined ? [] : [[name.toLowerCase(), Number(weight)] as const]
  })
  return new Map(entries)
}

/** The files of the package, by their paths in it. */
interface Files {
  /** The names of the files in a folder. */
  namesIn(folder: string): Promise<ReadonlySet<string>>
  read(file: string): Promise<Representation>
}

/** Reads each file and folder once. */
function createFiles(): Files {
  return {
    namesIn: once(async (folder) => new Set(await readdir(packageFile(folder)))),
    read: once(async (file) => {
      const bytes = await readFile(packageFile(file))
      return { bytes, tag: entityTag(bytes) }
    }),
  }
}

/** Calls a function once for each argument; again after a failure, since descriptors may have run out. */
function once<T>(make: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const known = new Map<string, Promise<T>>()
  return (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    const made = make(name)
    known.set(name, made)
    made.catch(() => known.delete(name))
    return made
  }
}
