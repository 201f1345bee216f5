/**
 * Implementations of the interface with one defect each, by the clause that it breaks.
 *
 * The clauses that no test from outside can check are left out: what survives a restart (§1.2), several services
 * with one secret (§5.2), a secret that changes (§5.5).
 */

import { randomUUID } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import { record } from '../../conformance/expect.js'
import { base64url, inSeconds } from '../../conformance/tokens.js'
import {
  create,
  type Defect,
  health,
  type Items,
  list,
  type Members,
  parts,
  type Reply,
  type Request,
  read,
  refusal,
  remove,
  replace,
} from './small-service.js'

const endpoints = [list, create, read, replace, remove]
const sessionId = randomUUID()
const allowedOrigin = 'access-control-allow-origin'

/** By clause and title. */
const byClause: Record<string, Record<string, Defect>> = {
  '§1.1': { 'nothing can be deleted': answering(remove, 204, { status: 405 }) },
  '§1.3': { 'health needs a token': { isPublic: ({ endpoint }) => endpoint === 'OPTIONS' } },
  '§1.4': {
    ...each([health, create, read, replace], (endpoint) => ({
      [`${endpoint} has no session_id`]: changed(endpoint, { session_id: undefined }),
    })),
    'GET /items has an envelope without session_id': { listed: (data) => ({ data }) },
    ...each([401, 404, 422], (status) => ({
      [`a ${status} has no session_id`]: errors(status, { session_id: undefined }),
    })),
    'the session_id is always the same': { sessionId: () => sessionId },
    'the session_id is no UUID v4': { sessionId: () => randomUUID().replace(/(?<=^.{14})4/, '1') },
  },
  '§1.5': {
    'answers lack Access-Control-Allow-Origin': headers([200, 201], { [allowedOrigin]: undefined }),
    'errors lack Access-Control-Allow-Origin': headers([401, 404, 422], {
      [allowedOrigin]: undefined,
    }),
    'only one origin is allowed': headers([200, 201, 204, 401, 404, 422], {
      [allowedOrigin]: 'https://app.example',
    }),
    'a preflight needs a token': { isPublic: ({ endpoint }) => endpoint === health },
    'a preflight does not allow PUT': allowing('methods', 'GET, POST, DELETE'),
    'a preflight does not allow DELETE': allowing('methods', 'GET, POST, PUT'),
    'a preflight allows any header, which leaves out Authorization': allowing('headers', '*'),
    'a preflight does not allow Content-Type': allowing('headers', 'Authorization'),
  },
  '§1.6': {
    'health is plain text': answering(health, 200, { body: 'OK' }),
    'bodies are JSON with another Content-Type': headers([200, 201], {
      'content-type': 'text/html',
    }),
    'errors are JSON with another Content-Type': headers([401, 404, 422], {
      'content-type': 'text/plain',
    }),
    'bodies may not begin with white space': refusing(({ body }) => /^\s/.test(body)),
    'Content-Type may not have a charset': refusing(({ headers }) =>
      /charset/.test(headers['content-type'] ?? ''),
    ),
  },

  '§2.1': {
    'ids are no UUIDs': { newId: () => `item-${randomUUID().slice(0, 8)}` },
    'the id is taken from the client': { newId: (value) => clientsId(value) ?? randomUUID() },
    'a replace gives the item another id': {
      replaced: (_, item) => ({ ...item, id: randomUUID() }),
    },
    'a replace answers with the id in data': {
      replaced: (_, item, value) => ({ ...item, id: clientsId(value) ?? item.id }),
    },
    'project_id is not copied': { itemOf: ({ id }, data) => ({ ...data, id }) },
    'data is a member of the item': { itemOf: (own, data) => ({ ...own, data }) },
    'a member named data is taken apart': {
      members: ({ data, ...rest }) => ({ ...rest, ...(typeof data === 'object' ? data : {}) }),
    },
    'numbers are written as strings': values('number', String),
    'fractions are cut off': values('number', Math.trunc),
    'large integers are rounded': { parsed: JSON.parse },
    'numbers have single precision': values('number', Math.fround),
    'booleans are numbers': values('boolean', Number),
    'empty strings are null': values('string', (text) => (text === '' ? null : text)),
    'strings are trimmed': values('string', (text) => text.trim()),
    'strings are normalized': values('string', (text) => text.normalize('NFD')),
    'strings end at NUL': values('string', (text) => text.split('\0', 1)[0]),
    'strings lose what is outside the Basic Multilingual Plane': values('string', (text) =>
      text.replaceAll(/[\ud800-\udfff]/g, '?'),
    ),
    'strings are cut at 65,535 characters': values('string', (text) => text.slice(0, 65_535)),
    'members that are null are left out': {
      members: entries((all) => all.filter(([, value]) => value !== null)),
    },
    'empty arrays are null': values('array', (array) => (array.length === 0 ? null : array)),
    'empty objects are null': values('object', (object) =>
      Object.keys(object).length === 0 ? null : object,
    ),
    'arrays are sorted': values('array', (array) => array.toSorted()),
    'names are in lower case': {
      members: entries((all) => all.map(([name, value]) => [name.toLowerCase(), value])),
    },
    'dots in names make objects': {
      members: entries((all) =>
        all.map(([path, value]) => {
          const [name = '', ...rest] = path.split('.')
          return [name, rest.length === 0 ? value : { [rest.join('.')]: value }]
        }),
      ),
    },
    'a member named __proto__ is lost': { members: (data) => Object.assign({}, data) },
    'members that JavaScript objects inherit are lost': {
      members: entries((all) => all.filter(([name]) => !(name in {}) || name === '__proto__')),
    },
    'the list has less of the items': { listed: (items) => items.map(({ id }) => ({ id })) },
  },
  '§2.2': {
    'data may not be empty': refusing(({ body }) => body.includes('"data":{}')),
    'project_id is required': { requested: (value) => ('project_id' in value ? value : {}) },
    ...accepting('a missing data', (value) => ({ data: {}, ...value })),
    ...accepting('null for data', (value) =>
      value.data === null ? { ...value, data: {} } : value,
    ),
    ...accepting('an array for data', (value) =>
      Array.isArray(value.data) ? { ...value, data: { ...value.data } } : value,
    ),
    ...accepting('a value for data', (value) =>
      typeof value.data === 'object' || value.data === undefined ? value : { ...value, data: {} },
    ),
    ...accepting('an empty project_id', ({ project_id, ...value }) =>
      project_id === '' ? value : { ...value, project_id },
    ),
    ...accepting('a number or boolean for project_id', (value) =>
      /number|boolean/.test(typeof value.project_id)
        ? { ...value, project_id: String(value.project_id) }
        : value,
    ),
    ...accepting('an array or object for project_id', ({ project_id, ...value }) =>
      typeof project_id === 'object' ? value : { ...value, project_id },
    ),
  },
  '§2.3': {
    ...each([create, read, replace], (endpoint) => ({
      [`${endpoint} has another status`]: changed(endpoint, { status: 'ok' }),
      [`${endpoint} has no message`]: changed(endpoint, { message: undefined }),
      [`${endpoint} has no data`]: changed(endpoint, { data: null }),
    })),
    'a create has another message': changed(create, { message: 'Created' }),
    'a read has another message': changed(read, { message: 'OK' }),
  },
  '§2.4': {
    ...each(['service_name', 'version', 'services_summary'], (name) => ({
      [`health has no ${name}`]: changed(health, { [name]: undefined }),
    })),
    'service_name is another one each time': changed(health, () => ({
      service_name: randomUUID(),
    })),
    'service_name identifies nothing': changed(health, { service_name: '' }),
    'the counts are strings': changed(health, {
      services_summary: { total: '1', healthy: '1', unhealthy: '0' },
    }),
    'the counts do not add up': changed(health, {
      services_summary: { total: 2, healthy: 1, unhealthy: 0 },
    }),
  },
  '§2.5': {
    'errors have no error_code': errors(401, { error_code: undefined }),
    'errors have no detail': errors(422, { detail: undefined }),
  },
  '§2.6': {
    'iat is required': { isAllowed: ({ iat }) => iat !== undefined },
    'exp has to fit 32 bits': { isAllowed: ({ exp }) => Number(exp) <= 2 ** 31 },
  },

  '§3': {
    'a replace creates an item': {
      found: (item, { endpoint, id }) => item ?? (endpoint === replace ? { id } : undefined),
    },
    'an invalid create makes an empty item': afterwards(create, 422, ({ body }, items) => {
      const id = randomUUID()
      items.set(id, { id, project_id: record(JSON.parse(body)).project_id })
    }),
    'an invalid replace empties the item': afterwards(replace, 422, ({ id }, items) => {
      items.set(id, { id })
    }),
    'a delete removes other items too': afterwards(remove, 204, (_, items) => {
      for (const id of [...items.keys()].slice(-2)) items.delete(id)
    }),
    'what is deleted can be read': { remove: () => undefined },
    'health is neither healthy nor unhealthy': changed(health, { status: 'ok' }),
  },

  '§4': {
    'health answers 204': answering(health, 200, { status: 204 }),
    'the list answers 206': answering(list, 200, { status: 206 }),
    'a create answers 200': answering(create, 201, { status: 200 }),
    'a read answers 203': answering(read, 200, { status: 203 }),
    'a replace answers 202': answering(replace, 200, { status: 202 }),
    'a delete answers 200': answering(remove, 204, { status: 200 }),
    ...each(endpoints, (endpoint) => ({
      [`${endpoint} needs no token`]: {
        isPublic: (request) =>
          parts.isPublic(request) ||
          (request.endpoint === endpoint && request.headers.authorization === undefined),
      },
    })),
  },
  '§4.1': { 'health is unhealthy': changed(health, { status: 'unhealthy' }) },
  '§4.2': {
    'an empty list is a 404': replying((reply, { endpoint }, items) =>
      endpoint === list && items.size === 0 ? { ...reply, status: 404 } : reply,
    ),
    'the list has pages of 100 items': { listed: (items) => items.slice(0, 100) },
    'the list has the latest 200 items': { listed: (items) => items.slice(-200) },
    'the list has an item twice': { listed: (items) => [...items.slice(-1), ...items] },
    'the list is cached': stale(list),
    'the list is an object of items': {
      listed: (items) => Object.fromEntries(items.map((item) => [item.id, item])),
    },
  },
  '§4.3': {
    'a create answers with the id alone': changed(create, ({ data }) => ({
      data: { id: record(data).id },
    })),
    'an equal create makes no item': sameForEqual(),
    'an invalid body is a 400': answering(create, 422, { status: 400 }),
    'an invalid body has another code': errors(422, { error_code: 'INVALID_BODY' }),
  },
  '§4.4': { 'a read answers with an array': changed(read, ({ data }) => ({ data: [data] })) },
  '§4.5': {
    'reads are cached': stale(read),
    'a replace keeps other members': { replaced: (before, item) => ({ ...before, ...item }) },
    'a replace keeps project_id': {
      replaced: ({ project_id }, item) => ({ ...item, project_id: item.project_id ?? project_id }),
    },
    'a replace answers with the item before': { shown: (_, before) => before },
    'a replace changes nothing': {
      store: (items, item) => items.has(item.id) || items.set(item.id, item),
    },
  },
  '§4.6': {
    'a delete answers 200 with the item': answering(remove, 204, { status: 200, body: { id: 1 } }),
    'what is deleted is still listed': stillListed(),
  },

  '§5.1': {
    'health refuses an invalid token': {
      isPublic: (request) => parts.isPublic(request) && request.headers.authorization === undefined,
    },
    'a delete is for administrators': {
      isAllowed: ({ admin }, { endpoint }) => endpoint !== remove || admin === true,
    },
  },
  '§5.2': { 'a token is verified once': remembering() },
  '§5.3': {
    'the header of a token has to have its usual order': {
      isSigned: (token) => !token.signed.startsWith(base64url('{"typ"')) && parts.isSigned(token),
    },
    'the payload of a token has to be base64, not base64url': {
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
    ...each(['none', 'HS384', 'HS512', 'RS256', 'ES256'], (algorithm) => ({
      [`the algorithm ${algorithm} is accepted`]: {
        isSigned: (token) => token.algorithm === algorithm || parts.isSigned(token),
      },
    })),
    'an empty secret is accepted': {
      isSigned: (token) => parts.isSigned(token) || parts.isSigned(token, ''),
    },
    'any scheme is accepted': { authorization: /^(?:Bearer|\w+(?= e)) (.*)$/ },
    'a token is accepted without a scheme': { authorization: /^(?:Bearer |(?=ey))(.*)$/ },
    'a missing token is a 403': coded('MISSING_TOKEN', 403, 'MISSING_TOKEN'),
    'an expired token is a 403': coded('TOKEN_EXPIRED', 403, 'TOKEN_EXPIRED'),
    'another scheme is INVALID_TOKEN': coded('MISSING_TOKEN', 401, 'INVALID_TOKEN'),
    'an expired token is INVALID_TOKEN': coded('TOKEN_EXPIRED', 401, 'INVALID_TOKEN'),
    'an invalid token is MISSING_TOKEN': coded('INVALID_TOKEN', 401, 'MISSING_TOKEN'),
    ...each([create, replace, remove], (endpoint) => ({
      [`${endpoint} is refused, and done`]: {
        isDoneAnyway: (request) => request.endpoint === endpoint,
      },
    })),
  },
  '§5.7': {
    'a 401 has no WWW-Authenticate': headers([401], { 'www-authenticate': undefined }),
    'a 401 for an expired token has no WWW-Authenticate': replying((answer) =>
      answer.status === 401 && JSON.stringify(answer.body).includes('TOKEN_EXPIRED')
        ? { ...answer, headers: {} }
        : answer,
    ),
  },
  '§5.8': { 'items belong to who has used them first': owned() },

  '§7': {
    'a 404 does not name the id': changed(404, { detail: 'not found' }),
    'an unknown item is a 200 without data': answering(read, 404, {
      status: 200,
      body: { session_id: sessionId, status: 'success', message: 'none', data: null },
    }),
    'the detail of an error is a text': changed(401, ({ detail }) => ({
      detail: record(detail).detail,
    })),
    'the detail of a 422 is an array': changed(422, ({ detail }) => ({ detail: [detail] })),
    'errors are not in detail': changed(401, ({ detail }) => record(detail)),
  },
  '§7.1': { 'the session_id of an error is empty': errors(422, { session_id: '' }) },

  '§8': {
    'project_id has 255 characters at most': {
      requested: (value) => (String(value.project_id).length > 255 ? {} : value),
    },
    'project_id has 2 characters at least': {
      requested: (value) => (String(value.project_id ?? 'none').length < 2 ? {} : value),
    },
    'the list has a parameter limit': {
      listed: (items, { query }) => items.slice(0, Number(/limit=(\d+)/.exec(query)?.[1] ?? 1e9)),
    },
  },
  '§9.1': { 'health is outside of the prefix': answering(health, 200, { status: 404 }) },
  '§9.2': {
    'the version has two numbers': changed(health, { version: '1.0' }),
    'the version begins with v': changed(health, { version: 'v1.0.0' }),
  },
}

export const defects = Object.entries(byClause).flatMap(([clause, all]) =>
  Object.entries(all).map(([title, defect]) => ({ clause, title, defect })),
)

/** Defects for each of some values. */
function each<T>(of: readonly T[], defectsOf: (value: T) => Record<string, Defect>) {
  return Object.fromEntries(of.flatMap((value) => Object.entries(defectsOf(value))))
}

function replying(change: typeof parts.reply): Defect {
  return { reply: change }
}

/** Changes the answers of an endpoint that have a status. */
function answering(endpoint: string, status: number, change: Partial<Reply>): Defect {
  return replying((answer, request) =>
    request.endpoint === endpoint && answer.status === status ? { ...answer, ...change } : answer,
  )
}

/** Sets headers, or takes them away, on the answers with one of these statuses. */
function headers(statuses: number[], change: OutgoingHttpHeaders): Defect {
  return replying((answer) =>
    statuses.includes(answer.status)
      ? { ...answer, headers: { ...answer.headers, ...change } }
      : answer,
  )
}

function allowing(what: 'methods' | 'headers', names: string): Defect {
  return headers([204], { [`access-control-allow-${what}`]: names })
}

/** Gives the successful answers of an endpoint, or all with a status, other members. */
function changed(which: string | number, change: Members | ((body: Members) => Members)): Defect {
  return replying((answer, { endpoint }) => {
    const isMeant = answer.status < 300 ? which === endpoint : which === answer.status
    if (!isMeant || answer.body === undefined) return answer
    const body = record(answer.body)
    return {
      ...answer,
      body: { ...body, ...(typeof change === 'function' ? change(body) : change) },
    }
  })
}

/** Gives the errors with a status other members. */
function errors(status: number, change: Members): Defect {
  return changed(status, ({ detail }) =>
    typeof detail === 'object' ? { detail: { ...detail, ...change } } : change,
  )
}

/** Answers with another error than the one with this code. */
function coded(code: string, status: number, other: string): Defect {
  return replying((answer) =>
    JSON.stringify(answer.body ?? '').includes(code) ? refusal(status, other, sessionId) : answer,
  )
}

function refusing(isRefused: (request: Request) => boolean): Defect {
  return {
    refusal: (request) =>
      isRefused(request) ? refusal(422, 'VALIDATION_ERROR', sessionId) : undefined,
  }
}

/** Two defects: create and replace accept what is invalid. */
function accepting(what: string, change: (value: Members) => Members): Record<string, Defect> {
  return each([create, replace], (endpoint) => ({
    [`${endpoint} accepts ${what}`]: {
      requested: (value, request) => (request.endpoint === endpoint ? change(value) : value),
    },
  }))
}

/** Does something once an endpoint is about to answer with a status. */
function afterwards(
  endpoint: string,
  status: number,
  act: (request: Request, items: Items) => void,
): Defect {
  return replying((answer, request, items) => {
    if (request.endpoint === endpoint && answer.status === status) act(request, items)
    return answer
  })
}

interface Types {
  readonly string: string
  readonly number: number
  readonly boolean: boolean
  readonly array: readonly unknown[]
  readonly object: Members
}

/** Changes the values of one type in all items, however deep. */
function values<T extends keyof Types>(type: T, change: (value: Types[T]) => unknown): Defect {
  const typeOf = (value: unknown) =>
    value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  return {
    value: (value) => (typeOf(value) === type ? change(value as Types[T]) : value), // of this type
  }
}

/** Changes names and values of members. */
function entries(change: (all: [string, unknown][]) => [string, unknown][]) {
  return (object: Members): Members => Object.fromEntries(change(Object.entries(object)))
}

function clientsId({ id, data }: Members): string | undefined {
  return [id, record(data).id].find((each) => typeof each === 'string')
}

/** The first answer again, instead of a new one. */
function stale(endpoint: string): Defect {
  const known = new Map<string, Reply>()
  return replying((answer, request) => {
    if (request.endpoint !== endpoint || answer.status !== 200) return answer
    const first = known.get(request.id) ?? answer
    known.set(request.id, first)
    return first
  })
}

/** An equal create has the id of the item that is there. */
function sameForEqual(): Defect {
  const known = new Map<string, string>()
  return {
    newId(value) {
      const id = known.get(JSON.stringify(value)) ?? randomUUID()
      known.set(JSON.stringify(value), id)
      return id
    },
  }
}

/** Keeps what is deleted in the list. */
function stillListed(): Defect {
  const all: Items = new Map()
  return {
    store(items, item) {
      items.set(item.id, item)
      all.set(item.id, item)
    },
    listed: () => [...all.values()],
  }
}

/** Accepts for ever what it has accepted once. */
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
