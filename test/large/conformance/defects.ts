/**
 * Services with a defect, by the spec clause that they violate. §1.2, §5.2 and §5.5 are missing, because they cannot be
 * tested over HTTP alone.
 */

import { randomUUID } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import { record } from '../../conformance/expect.js'
import { base64url, inSeconds } from '../../conformance/tokens.js'
import {
  create,
  type Defect,
  health,
  list,
  type Members,
  parts,
  type Reply,
  type Request,
  read,
  remove,
  replace,
} from './small-service.js'

const endpoints = [list, create, read, replace, remove]
const sessionId = randomUUID()
const allowedOrigin = 'access-control-allow-origin'

const byClause: Record<string, Record<string, Defect>> = {
  '§1.1': { 'nothing can be deleted': answering(remove, { status: 405 }) },
  '§1.3': { 'health needs a token': { isPublic: ({ endpoint }) => endpoint === 'OPTIONS' } },
  '§1.4': {
    'a create has no session_id': changed(create, { session_id: undefined }),
    'GET /items has an envelope without session_id': { listed: (data) => ({ data }) },
    'the session_id is always the same': { sessionId: () => sessionId },
    'a session_id has version 1': { sessionId: () => randomUUID().replace(/(?<=^.{14})4/, '1') },
  },
  '§1.5': {
    'only one origin is allowed': headers('any', { [allowedOrigin]: 'https://app.example' }),
    'a preflight needs a token': { isPublic: ({ endpoint }) => endpoint === health },
    'a preflight does not allow PUT': allowing('methods', 'GET, POST, DELETE'),
    'a preflight allows any header, which leaves out Authorization': allowing('headers', '*'),
  },
  '§1.6': {
    'health is plain text': answering(health, { body: 'OK' }),
    'bodies are JSON with another Content-Type': headers('any', { 'content-type': 'text/plain' }),
    'bodies may not begin with white space': rejecting(({ body }) => /^\s/.test(body)),
    'a charset is refused': rejecting(({ headers }) =>
      /charset/.test(`${headers['content-type']}`),
    ),
  },

  '§2.1': {
    'ids are not UUIDs': { newId: () => `item-${randomUUID().slice(0, 8)}` },
    'the id is taken from the client': { newId: (value) => clientsId(value) ?? randomUUID() },
    'a replace changes the id': { replaced: (_, item) => ({ ...item, id: randomUUID() }) },
    'a replace answers with the id in data': {
      replaced: (_, item, value) => ({ ...item, id: clientsId(value) ?? item.id }),
    },
    'project_id is not copied': { itemOf: ({ id }, data) => ({ ...data, id }) },
    'data is a member of the item': { itemOf: (own, data) => ({ ...own, data }) },
    'the members of a member named data are moved to the item': {
      members: ({ data, ...rest }) => ({ ...rest, ...(typeof data === 'object' ? data : {}) }),
    },
    'large integers are rounded': { parsed: JSON.parse },
    'empty strings are null': strings((text) => (text === '' ? null : text)),
    'strings are trimmed': strings((text) => text.trim()),
    'strings are normalized': strings((text) => text.normalize('NFD')),
    'strings are cut at 65,535 characters': strings((text) => text.slice(0, 65_535)),
    'members that are null are left out': {
      members: (data) =>
        Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null)),
    },
    'a member named __proto__ is lost': { members: (data) => Object.assign({}, data) },
    'the list has only ids of items': { listed: (items) => items.map(({ id }) => ({ id })) },
  },
  '§2.2': {
    'empty data is rejected': rejecting(({ body }) => body.includes('"data":{}')),
    'project_id is required': rejecting(({ body }) => !body.includes('"project_id"')),
    'a create accepts any data': {
      requested: (value, { endpoint }) => (endpoint === create ? { ...value, data: {} } : value),
    },
    'a replace accepts any project_id': {
      requested: (value, { endpoint }) => (endpoint === replace ? { data: value.data } : value),
    },
  },
  '§2.3': {
    'a create has another message': changed(create, { message: 'Created' }),
    'a read has another status': changed(read, { status: 'ok' }),
    'a replace has no data': changed(replace, { data: null }),
  },
  '§2.4': {
    'health has no version': changed(health, { version: undefined }),
    'service_name is never the same': changed(health, () => ({ service_name: randomUUID() })),
    'the counts do not add up': changed(health, {
      services_summary: { total: 2, healthy: 1, unhealthy: 0 },
    }),
  },
  '§2.5': { 'errors have no error_code': errors(401, { error_code: undefined }) },
  '§2.6': {
    'iat is required': { isAllowed: ({ iat }) => iat !== undefined },
    'exp must fit into 32 bits': { isAllowed: ({ exp }) => Number(exp) <= 2 ** 31 },
  },

  '§3': {
    'a replace creates an item': {
      found: (item, { endpoint, id }) => item ?? (endpoint === replace ? { id } : undefined),
    },
    'an invalid create makes an empty item': replying(422, (answer, { endpoint, body }, items) => {
      const { project_id } = record(JSON.parse(body))
      if (endpoint === create) items.set(sessionId, { id: sessionId, project_id })
      return answer
    }),
    'an invalid replace empties the item': replying(422, (answer, { id }, items) => {
      if (id !== '') items.set(id, { id })
      return answer
    }),
    'a delete removes other items too': {
      remove: (items, id) => [id, ...[...items.keys()].slice(-2)].map((each) => items.delete(each)),
    },
    'a deleted item can still be read': { remove: () => undefined },
    'health is neither healthy nor unhealthy': changed(health, { status: 'ok' }),
  },

  '§4': {
    'the list answers 206': answering(list, { status: 206 }),
    'a create answers 200': answering(create, { status: 200 }),
    ...each(endpoints, (endpoint) => ({
      [`${endpoint} needs no token`]: {
        isPublic: (request) =>
          parts.isPublic(request) || (request.endpoint === endpoint && !hasToken(request)),
      },
    })),
  },
  '§4.1': { 'health is unhealthy': changed(health, { status: 'unhealthy' }) },
  '§4.2': {
    'an empty list is a 404': replying(list, (reply, _, items) =>
      items.size === 0 ? { ...reply, status: 404 } : reply,
    ),
    'the list has pages of 100 items': { listed: (items) => items.slice(0, 100) },
  },
  '§4.3': {
    'a create answers with the id alone': changed(create, ({ data }) => ({
      data: { id: record(data).id },
    })),
    'an invalid body has another code': errors(422, { error_code: 'INVALID_BODY' }),
  },
  '§4.4': { 'a read answers with an array': changed(read, ({ data }) => ({ data: [data] })) },
  '§4.5': {
    'reads are cached': stale(read),
    'a replace keeps other members': { replaced: (before, item) => ({ ...before, ...item }) },
    'a replace keeps project_id': {
      replaced: ({ project_id }, item) => ({ ...item, project_id: item.project_id ?? project_id }),
    },
    'a replace changes nothing': {
      store: (items, item) => items.has(item.id) || items.set(item.id, item),
    },
  },
  '§4.6': { 'a delete answers with a body': answering(remove, { status: 200, body: {} }) },

  '§5.1': {
    'health rejects an invalid token': {
      isPublic: (request) => parts.isPublic(request) && !hasToken(request),
    },
    'a delete is for administrators': {
      isAllowed: ({ admin }, { endpoint }) => endpoint !== remove || admin === true,
    },
  },
  '§5.2': { 'a token is verified only once': remembering() },
  '§5.3': {
    'the members of a token header must have their usual order': {
      isSigned: (token) => !token.signed.startsWith(base64url('{"typ"')) && parts.isSigned(token),
    },
    'the payload of a token must be base64, not base64url': {
      isSigned: (token) => !/\..*[-_]/.test(token.signed) && parts.isSigned(token),
    },
  },
  '§5.4': {
    'exp is not checked': { isExpired: () => false },
    'exp has a minute of leeway': { isExpired: (exp) => exp <= inSeconds(-60) },
  },
  '§5.6': {
    'signatures are not checked': { isSigned: () => true },
    'a token without a signature is accepted': {
      isSigned: (token) => token.signature === '' || parts.isSigned(token),
    },
    'any other algorithm is accepted': {
      isSigned: (token) => token.algorithm !== 'HS256' || parts.isSigned(token),
    },
    'an empty secret is accepted': {
      isSigned: (token) => parts.isSigned(token) || parts.isSigned(token, ''),
    },
    'any scheme is accepted': { authorization: /^(?:Bearer|\w+(?= e)) (.*)$/ },
    'a token is accepted without a scheme': { authorization: /^(?:Bearer |(?=ey))(.*)$/ },
    'an expired token is a 403': replying(401, (answer) =>
      JSON.stringify(answer.body).includes('EXPIRED') ? { ...answer, status: 403 } : answer,
    ),
    'an invalid token is MISSING_TOKEN': errors(401, { error_code: 'MISSING_TOKEN' }),
    ...each([create, replace, remove], (endpoint) => ({
      [`${endpoint} without a valid token is rejected, but takes effect`]: {
        isDoneAnyway: (request) => request.endpoint === endpoint,
      },
    })),
  },
  '§5.7': { 'a 401 has no challenge': headers(401, { 'www-authenticate': undefined }) },
  '§5.8': { 'only the first user of an item may use it': owned() },

  '§7': {
    'a 404 does not name the id': changed(404, { detail: 'not found' }),
    'the detail of an error is a string': changed(401, ({ detail }) => record(detail)),
  },
  '§7.1': { 'the session_id of an error is empty': errors(422, { session_id: '' }) },

  '§8': {
    'project_id may have at most 255 characters': rejecting(({ body }) =>
      /"project_id":"[^"]{256}/.test(body),
    ),
    'project_id must have at least 2 characters': rejecting(({ body }) =>
      /"project_id":"[^"]?"/.test(body),
    ),
    'the list has a parameter limit': {
      listed: (items, { query }) => items.slice(0, Number(/limit=(\d+)/.exec(query)?.[1] ?? 1e9)),
    },
  },
  '§9.1': { 'health is not below the prefix': answering(health, { status: 404 }) },
  '§9.2': { 'the version has only two numbers': changed(health, { version: '1.0' }) },
}

export const defects = Object.entries(byClause).flatMap(([clause, all]) =>
  Object.entries(all).map(([title, defect]) => ({ clause, title, defect })),
)

function each<T>(of: readonly T[], defectsOf: (value: T) => Record<string, Defect>) {
  return Object.fromEntries(of.flatMap((value) => Object.entries(defectsOf(value))))
}

/** Changes some responses: the successful ones of an endpoint, the errors with a given status, or `any`. */
function replying(which: string | number, change: typeof parts.reply): Defect {
  return {
    reply(answer, request, items) {
      const own = answer.status < 300 ? request.endpoint : answer.status
      return which === own || which === 'any' ? change(answer, request, items) : answer
    },
  }
}

function answering(endpoint: string, change: Partial<Reply>): Defect {
  return replying(endpoint, (answer) => ({ ...answer, ...change }))
}

function headers(which: string | number, change: OutgoingHttpHeaders): Defect {
  return replying(which, (answer) => ({ ...answer, headers: { ...answer.headers, ...change } }))
}

function allowing(what: 'methods' | 'headers', names: string): Defect {
  return headers('OPTIONS', { [`access-control-allow-${what}`]: names })
}

function changed(which: string | number, change: Members | ((body: Members) => Members)): Defect {
  return replying(which, (answer) => {
    const body = record(answer.body)
    const changes = typeof change === 'function' ? change(body) : change
    return { ...answer, body: { ...body, ...changes } }
  })
}

function errors(status: number, change: Members): Defect {
  return changed(status, ({ detail }) =>
    typeof detail === 'object' ? { detail: { ...detail, ...change } } : change,
  )
}

function rejecting(isRejected: (request: Request) => boolean): Defect {
  return { requested: (value, request) => (isRejected(request) ? {} : value) }
}

function strings(change: (text: string) => unknown): Defect {
  const changed = (value: unknown) => (typeof value === 'string' ? change(value) : value)
  return {
    members: (data) =>
      Object.fromEntries(Object.entries(data).map(([name, value]) => [name, changed(value)])),
  }
}

function hasToken({ headers }: Request): boolean {
  return headers.authorization !== undefined
}

function clientsId({ id, data }: Members): string | undefined {
  return [id, record(data).id].find((each) => typeof each === 'string')
}

/** Makes an endpoint cache its first successful response for each item forever. */
function stale(endpoint: string): Defect {
  const known = new Map<string, Reply>()
  return replying(endpoint, (answer, { id }) => {
    const first = known.get(id) ?? answer
    known.set(id, first)
    return first
  })
}

/** Accepts an expired token if the token was accepted before it expired. */
function remembering(): Defect {
  const known = new Set<number>()
  return {
    isExpired(exp) {
      if (!parts.isExpired(exp)) known.add(exp)
      return !known.has(exp)
    },
  }
}

function owned(): Defect {
  const owners = new Map<string, unknown>()
  return {
    isAllowed({ sub }, { id }) {
      if (id !== '' && !owners.has(id)) owners.set(id, sub)
      return id === '' || owners.get(id) === sub
    },
  }
}
