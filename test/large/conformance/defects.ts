/**
 * Services with a defect, at least one for each spec clause. §1.2, §5.2 and §5.5 are missing, because they cannot be
 * tested over HTTP alone.
 */

import { randomUUID } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import { record } from '../../conformance/expect.js'
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
} from './small-service.js'

const sessionId = randomUUID()

const byClause: Record<string, Record<string, Defect>> = {
  '§1.1': { 'nothing can be deleted': answering(remove, { status: 405 }) },
  '§1.3': { 'health needs a token': { isPublic: ({ endpoint }) => endpoint === 'OPTIONS' } },
  '§1.4': { 'the session_id is always the same': { sessionId: () => sessionId } },
  '§1.5': {
    'only one origin is allowed': headers('any', {
      'access-control-allow-origin': 'https://app.example',
    }),
    'a preflight allows any header, which leaves out Authorization': headers('OPTIONS', {
      'access-control-allow-headers': '*',
    }),
  },
  '§1.6': { 'health is plain text': answering(health, { body: 'OK' }) },

  '§2.1': {
    'a replace changes the id': { replaced: (_, item) => ({ ...item, id: randomUUID() }) },
    'large integers are rounded': { parsed: JSON.parse },
    'members that are null are left out': {
      members: (data) =>
        Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null)),
    },
    'a member named __proto__ is lost': { members: (data) => Object.assign({}, data) },
    'the list has only ids of items': { listed: (items) => items.map(({ id }) => ({ id })) },
  },
  '§2.2': {
    'a create accepts any data': {
      requested: (value, { endpoint }) => (endpoint === create ? { ...value, data: {} } : value),
    },
  },
  '§2.3': { 'a create has another message': changed(create, { message: 'Created' }) },
  '§2.4': { 'health has no version': changed(health, { version: undefined }) },
  '§2.5': { 'errors have no error_code': errors(401, { error_code: undefined }) },
  '§2.6': { 'iat is required': { isAllowed: ({ iat }) => iat !== undefined } },

  '§3': {
    'an invalid replace empties the item': replying(422, (answer, { id }, items) => {
      if (id !== '') items.set(id, { id })
      return answer
    }),
    'a deleted item can still be read': { remove: () => undefined },
  },

  '§4': {
    'a create answers 200': answering(create, { status: 200 }),
    'the list needs no token': {
      isPublic: (request) =>
        parts.isPublic(request) || (request.endpoint === list && !hasToken(request)),
    },
  },
  '§4.1': { 'health is unhealthy': changed(health, { status: 'unhealthy' }) },
  '§4.2': { 'the list has pages of 100 items': { listed: (items) => items.slice(0, 100) } },
  '§4.3': { 'an invalid body has another code': errors(422, { error_code: 'INVALID_BODY' }) },
  '§4.4': { 'a read answers with an array': changed(read, ({ data }) => ({ data: [data] })) },
  '§4.5': {
    'a replace keeps other members': { replaced: (before, item) => ({ ...before, ...item }) },
  },
  '§4.6': { 'a delete answers with a body': answering(remove, { status: 200, body: {} }) },

  '§5.1': {
    'health rejects an invalid token': {
      isPublic: (request) => parts.isPublic(request) && !hasToken(request),
    },
  },
  '§5.2': { 'a token is verified only once': remembering() },
  '§5.3': {
    'the payload of a token must be base64, not base64url': {
      isSigned: (token) => !/\..*[-_]/.test(token.signed) && parts.isSigned(token),
    },
  },
  '§5.4': { 'exp is not checked': { isExpired: () => false } },
  '§5.6': {
    'signatures are not checked': { isSigned: () => true },
    'any other algorithm is accepted': {
      isSigned: (token) => token.algorithm !== 'HS256' || parts.isSigned(token),
    },
    'a create without a valid token is rejected, but takes effect': {
      isDoneAnyway: ({ endpoint }) => endpoint === create,
    },
  },
  '§5.7': { 'a 401 has no challenge': headers(401, { 'www-authenticate': undefined }) },
  '§5.8': { 'a delete is for one user': { isAllowed: ({ sub }) => sub !== 'carol' } },

  '§7': { 'a 404 does not name the id': changed(404, { detail: 'not found' }) },
  '§7.1': { 'the session_id of an error is empty': errors(422, { session_id: '' }) },

  '§8': {
    'project_id may have at most 255 characters': {
      requested: (value, { body }) => (/"project_id":"[^"]{256}/.test(body) ? {} : value),
    },
  },
  '§9.1': { 'health is not below the prefix': answering(health, { status: 404 }) },
  '§9.2': { 'the version has only two numbers': changed(health, { version: '1.0' }) },
}

export const defects = Object.entries(byClause).flatMap(([clause, all]) =>
  Object.entries(all).map(([title, defect]) => ({ clause, title, defect })),
)

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

function hasToken({ headers }: Request): boolean {
  return headers.authorization !== undefined
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
