/**
 * Implementations of the interface with one defect each, by the clause that it breaks.
 *
 * The clauses that no test from outside can check are left out: what survives a restart (§1.2), several services
 * with one secret (§5.2), a secret that changes (§5.5).
 */

import { randomUUID } from 'node:crypto'
import { record } from '../../conformance/expect.js'
import { inSeconds, mintToken } from '../../conformance/tokens.js'
import {
  accepting,
  afterwards,
  algorithmOf,
  allowing,
  arrays,
  at,
  changed,
  claimsOf,
  clientsId,
  code,
  create,
  entries,
  errors,
  headers,
  health,
  invalid,
  isObject,
  isSignedWell,
  itemId,
  itemIn,
  lacking,
  lettingIn,
  list,
  listed,
  numbers,
  objects,
  ofItems,
  otherIds,
  owned,
  publicEndpoint,
  read,
  readBehind,
  refusing,
  remembering,
  remove,
  replace,
  requestValues,
  sameForEqual,
  saying,
  scheme,
  sentValue,
  stale,
  status,
  stillListed,
  strings,
  tokenOf,
  unauthorized,
  withBody,
  without,
  withToken,
} from './behaviors.js'
import {
  type Behavior,
  bodies,
  endpointOf,
  items,
  replies,
  requests,
  values,
} from './faulty-service.js'

type Defects = Record<string, Behavior>

const sessionId = randomUUID()

/** A defect for each of some values. */
function each<T>(of: readonly T[], title: (value: T) => string, behave: (value: T) => Behavior) {
  return Object.fromEntries(of.map((value) => [title(value), behave(value)]))
}

/** By clause and title. */
const byClause: Record<string, Defects> = {
  '§1.1': { 'nothing can be deleted': status([remove], 204, 405) },
  '§1.3': {
    'health needs a token': refusing(
      (request) => endpointOf(request) === health && !request.headers.authorization,
      unauthorized,
    ),
  },
  '§1.4': {
    ...each(
      [health, create, list, read, replace],
      (endpoint) => `${endpoint} has no session_id`,
      (endpoint) => without(endpoint, 'session_id'),
    ),
    ...each(
      [401, 404, 422],
      (status) => `a ${status} has no session_id`,
      (status) => errors(status, (detail) => lacking(detail, 'session_id')),
    ),
    'the session_id is always the same': replies(undefined, (reply) => ({
      ...reply,
      text: reply.text.replace(/"session_id":"[^"]*"/, `"session_id":"${sessionId}"`),
    })),
    'the session_id is no UUID v4': replies(undefined, (reply) => ({
      ...reply,
      text: reply.text.replace(/("session_id":"[^"]{14})4/, '$11'),
    })),
  },
  '§1.5': {
    'answers lack Access-Control-Allow-Origin': headers([200, 201], {
      'access-control-allow-origin': undefined,
    }),
    'errors lack Access-Control-Allow-Origin': headers([401, 404, 422], {
      'access-control-allow-origin': undefined,
    }),
    'only one origin is allowed': headers([200, 201, 204, 401, 404, 422], {
      'access-control-allow-origin': 'https://app.example',
    }),
    'a preflight needs a token': refusing(({ method }) => method === 'OPTIONS', unauthorized),
    'a preflight does not allow PUT': allowing('methods', 'GET, POST, DELETE'),
    'a preflight does not allow DELETE': allowing('methods', 'GET, POST, PUT'),
    'a preflight allows any header, which leaves out Authorization': allowing('headers', '*'),
    'a preflight does not allow Content-Type': allowing('headers', 'Authorization'),
  },
  '§1.6': {
    'health is plain text': replies([health], (reply) => ({ ...reply, text: 'OK' })),
    'bodies are JSON with another Content-Type': headers([200, 201], {
      'content-type': 'text/html',
    }),
    'errors are JSON with another Content-Type': headers([401, 404, 422], {
      'content-type': 'text/plain',
    }),
    'bodies may not begin with white space': refusing(({ body }) => /^\s/.test(body), invalid),
    'Content-Type may not have a charset': refusing(
      (request) => /charset/.test(request.headers['content-type'] ?? ''),
      { ...invalid, status: 415 },
    ),
  },

  '§2.1': {
    'ids are no UUIDs': otherIds((_, id) => `item-${id.slice(0, 8)}`),
    'the id is taken from the client': otherIds((request, id) => clientsId(request) ?? id),
    'a replace gives the item another id': changed(replace, ({ data }) => ({
      data: { ...record(data), id: randomUUID() },
    })),
    'a replace answers with the id in data': changed(replace, ({ data }, request) => ({
      data: { ...record(data), id: clientsId(request) ?? itemId(request) },
    })),
    'project_id is not copied': items((item) => ({ ...item, project_id: null })),
    'data is a member of the item': items(({ id, project_id, ...data }) => ({
      id,
      project_id,
      data,
    })),
    'a member named data is taken apart': items((item) => ({
      ...item,
      ...(typeof item.data === 'object' ? item.data : {}),
      data: undefined,
    })),
    'numbers are written as strings': numbers(String),
    'fractions are cut off': numbers(Math.trunc),
    'large integers are rounded': values((value) => value),
    'numbers have single precision': numbers(Math.fround),
    'booleans are numbers': values((value) => (typeof value === 'boolean' ? Number(value) : value)),
    'empty strings are null': strings((text) => (text === '' ? null : text)),
    'strings are trimmed': strings((text) => text.trim()),
    'strings are normalized': strings((text) => text.normalize('NFD')),
    'strings end at NUL': strings((text) => text.split('\0', 1)[0]),
    'strings lose what is outside the Basic Multilingual Plane': strings((text) =>
      text.replaceAll(/[\ud800-\udfff]/g, '?'),
    ),
    'strings are cut at 65,535 characters': strings((text) => text.slice(0, 65_535)),
    'members that are null are left out': objects((object) =>
      Object.fromEntries(Object.entries(object).filter(([, member]) => member !== null)),
    ),
    'empty arrays are null': arrays((array) => (array.length === 0 ? null : array)),
    'empty objects are null': objects((object) =>
      Object.keys(object).length === 0 ? null : object,
    ),
    'arrays are sorted': arrays((array) => array.toSorted()),
    'names are in lower case': entries((all) =>
      all.map(([name, value]) => [name.toLowerCase(), value]),
    ),
    'dots in names make objects': entries((all) =>
      all.map(([name, value]) =>
        name.includes('.')
          ? [name.replace(/\..*/, ''), { [name.replace(/.*\./, '')]: value }]
          : [name, value],
      ),
    ),
    'a member named __proto__ is lost': items((item) => Object.assign({}, item)),
    'members that JavaScript objects inherit are lost': entries((all) =>
      all.filter(([name]) => !(name in {}) || name === '__proto__'),
    ),
    'the list has less of the items': listed((all) =>
      all.map(({ id, project_id }) => ({ id, project_id })),
    ),
  },
  '§2.2': {
    'data may not be empty': refusing(({ body }) => body.includes('"data":{}'), invalid),
    'project_id is required': refusing(
      (request) => withBody.includes(endpointOf(request)) && !request.body.includes('project_id'),
      invalid,
    ),
    ...accepting('a missing data', (value) => ({ data: {}, ...value })),
    ...accepting('null for data', (value) =>
      value.data === null ? { ...value, data: {} } : value,
    ),
    ...accepting('an array for data', (value) =>
      Array.isArray(value.data) ? { ...value, data: { ...value.data } } : value,
    ),
    ...accepting('a value for data', (value) =>
      typeof value.data === 'object' || value.data === undefined
        ? value
        : { ...value, data: { value: value.data } },
    ),
    ...accepting('an empty project_id', (value) =>
      value.project_id === '' ? lacking(value, 'project_id') : value,
    ),
    ...accepting('a number or boolean for project_id', (value) =>
      /number|boolean/.test(typeof value.project_id)
        ? { ...value, project_id: String(value.project_id) }
        : value,
    ),
    ...accepting('an array or object for project_id', (value) =>
      typeof value.project_id === 'object' ? lacking(value, 'project_id') : value,
    ),
  },
  '§2.3': {
    ...each(
      [create, read, replace],
      (endpoint) => `${endpoint} has another status`,
      (endpoint) => changed(endpoint, { status: 'ok' }),
    ),
    ...each(
      [create, read, replace],
      (endpoint) => `${endpoint} has no message`,
      (endpoint) => without(endpoint, 'message'),
    ),
    ...each(
      [create, read, replace],
      (endpoint) => `${endpoint} has no data`,
      (endpoint) => changed(endpoint, { data: null }),
    ),
    'a create has another message': changed(create, { message: 'Created' }),
    'a read has another message': changed(read, { message: 'OK' }),
  },
  '§2.4': {
    ...each(
      ['service_name', 'version', 'services_summary'],
      (name) => `health has no ${name}`,
      (name) => without(health, name),
    ),
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
    'errors have no error_code': errors(401, (detail) => lacking(detail, 'error_code')),
    'errors have no detail': errors(422, (detail) => lacking(detail, 'detail')),
  },
  '§2.6': {
    'iat is required': refusing((request) => {
      const { exp, iat } = claimsOf(request) ?? {}
      return iat === undefined && Number(exp) > inSeconds(0)
    }, unauthorized),
    'exp has to fit 32 bits': refusing(
      (request) => Number(claimsOf(request)?.exp) > 2 ** 31,
      unauthorized,
    ),
  },

  '§3': {
    'a replace creates an item': at(replace, async (request, pass) => {
      const reply = await pass(request)
      if (reply.status !== 404) return reply
      return { ...(await pass({ ...request, method: 'POST', path: '/items' })), status: 200 }
    }),
    'an invalid create makes an empty item': afterwards(create, 422, (request, pass) => {
      const project_id = sentValue(request)?.project_id
      return pass({ ...request, body: JSON.stringify({ data: {}, project_id }) })
    }),
    'an invalid replace empties the item': afterwards(replace, 422, (request, pass) =>
      pass({ ...request, body: '{"data":{}}' }),
    ),
    'a delete removes other items too': afterwards(
      remove,
      204,
      async (_request, _pass, service) => {
        const all = record(JSON.parse((await service.call('GET', '/items')).text)).data
        for (const item of Array.isArray(all) ? all.slice(-2) : []) {
          await service.call('DELETE', `/items/${record(item).id}`)
        }
      },
    ),
    'what is deleted can be read': at(remove, async (request, pass, service) => {
      if (!tokenOf(request)) return await pass(request)
      const { status } = await readBehind(service, request)
      return status === 404 ? await pass(request) : { status: 204, headers: {}, text: '' }
    }),
    'health is neither healthy nor unhealthy': changed(health, { status: 'ok' }),
  },

  '§4': {
    'health answers 204': status([health], 200, 204),
    'the list answers 206': status([list], 200, 206),
    'a create answers 200': status([create], 201, 200),
    'a read answers 203': status([read], 200, 203),
    'a replace answers 202': status([replace], 200, 202),
    'a delete answers 200': status([remove], 204, 200),
    ...each(ofItems, (endpoint) => `${endpoint} needs no token`, publicEndpoint),
  },
  '§4.1': { 'health is unhealthy': changed(health, { status: 'unhealthy' }) },
  '§4.2': {
    'an empty list is a 404': saying('"data":[]', { status: 404 }),
    'the list has pages of 100 items': listed((all) => all.slice(0, 100)),
    'the list has the latest 200 items': listed((all) => all.slice(-200)),
    'the list has an item twice': listed((all) => [...all.slice(-1), ...all]),
    'the list is cached': stale(list),
    'the list is an object of items': listed((all) =>
      Object.fromEntries(all.map((item) => [String(item.id), item])),
    ),
  },
  '§4.3': {
    'a create answers with the id alone': changed(create, ({ data }) => ({
      data: { id: record(data).id },
    })),
    'an equal create makes no item': sameForEqual(),
    'an invalid body is a 400': status(withBody, 422, 400),
    'an invalid body has another code': code('VALIDATION_ERROR', 'INVALID_BODY', 422),
  },
  '§4.4': { 'a read answers with an array': changed(read, ({ data }) => ({ data: [data] })) },
  '§4.5': {
    'reads are cached': stale(read),
    'a replace keeps other members': requestValues(replace, async (value, request, service) => {
      const { text, status } = await readBehind(service, request)
      if (status !== 200 || !isObject(value.data)) return value
      const { id: _id, project_id: _project, ...members } = itemIn(text)
      return { ...value, data: { ...members, ...value.data } }
    }),
    'a replace keeps project_id': requestValues(replace, async (value, request, service) => {
      const { text, status } = await readBehind(service, request)
      return status === 200 ? { project_id: itemIn(text).project_id, ...value } : value
    }),
    'a replace answers with the item before': at(replace, async (request, pass, service) => {
      const before = await readBehind(service, request)
      const reply = await pass(request)
      if (reply.status !== 200) return reply
      const data = itemIn(before.text)
      return { ...reply, text: JSON.stringify({ ...record(JSON.parse(reply.text)), data }) }
    }),
    'a replace changes nothing': at(replace, async (request, pass, service) => {
      const before = await readBehind(service, request)
      const reply = await pass(request)
      if (reply.status === 200) {
        const { id: _id, project_id, ...data } = itemIn(before.text)
        const value = { data, ...(project_id === null ? {} : { project_id }) }
        await pass({ ...request, body: JSON.stringify(value) })
      }
      return reply
    }),
  },
  '§4.6': {
    'a delete answers 200 with the item': at(remove, async (request, pass, service) => {
      const before = await readBehind(service, request)
      const reply = await pass(request)
      return reply.status === 204 ? { ...reply, status: 200, text: before.text } : reply
    }),
    'what is deleted is still listed': stillListed(),
  },

  '§5.1': {
    'health refuses an invalid token': refusing(
      (request) =>
        endpointOf(request) === health &&
        /Basic|not-a-jwt/.test(request.headers.authorization ?? ''),
      unauthorized,
    ),
    'a delete is for administrators': refusing(
      (request) => {
        const claims = claimsOf(request)
        return endpointOf(request) === remove && claims !== undefined && claims.admin !== true
      },
      { ...unauthorized, status: 403 },
    ),
  },
  '§5.2': { 'a token is verified once': remembering() },
  '§5.3': {
    'the header of a token has to have its usual order': refusing(
      (request) =>
        tokenOf(request)?.startsWith(Buffer.from('{"typ"').toString('base64url')) === true,
      unauthorized,
    ),
    'the payload of a token has to be base64, not base64url': refusing(
      (request) => /[-_]/.test(tokenOf(request)?.split('.')[1] ?? ''),
      unauthorized,
    ),
  },
  '§5.4': {
    'exp is not checked': lettingIn(isSignedWell, { exp: inSeconds(86_400) }),
    'exp has a minute of leeway': lettingIn(
      (request, secret) =>
        isSignedWell(request, secret) && Number(claimsOf(request)?.exp) > inSeconds(-60),
      { exp: inSeconds(86_400) },
    ),
  },
  '§5.6': {
    'signatures are not checked': lettingIn(
      (request) => Number(claimsOf(request)?.exp) > inSeconds(0),
    ),
    'a token without a signature is accepted': lettingIn(
      (request) => tokenOf(request)?.endsWith('.') === true,
    ),
    ...each(
      ['none', 'HS384', 'HS512', 'RS256', 'ES256'],
      (algorithm) => `the algorithm ${algorithm} is accepted`,
      (algorithm) => lettingIn((request) => algorithmOf(request) === algorithm),
    ),
    'an empty secret is accepted': lettingIn((request) => {
      const claims = claimsOf(request)
      return claims !== undefined && tokenOf(request) === mintToken(claims, { secret: '' })
    }),
    'any scheme is accepted': scheme(/^\w+ (?=e)/),
    'a token is accepted without a scheme': scheme(/^(?=ey)/),
    'a missing token is a 403': saying('MISSING_TOKEN', { status: 403 }),
    'an expired token is a 403': saying('TOKEN_EXPIRED', { status: 403 }),
    'another scheme is INVALID_TOKEN': code('MISSING_TOKEN', 'INVALID_TOKEN'),
    'an expired token is INVALID_TOKEN': code('TOKEN_EXPIRED', 'INVALID_TOKEN'),
    'an invalid token is MISSING_TOKEN': code('INVALID_TOKEN', 'MISSING_TOKEN'),
    ...each(
      [create, replace, remove],
      (endpoint) => `${endpoint} is refused, and done`,
      (endpoint) =>
        afterwards(endpoint, 401, (request, pass, service) =>
          pass(withToken(request, service.validToken())),
        ),
    ),
  },
  '§5.7': {
    'a 401 has no WWW-Authenticate': headers([401], { 'www-authenticate': undefined }),
    'a 401 for an expired token has no WWW-Authenticate': saying('TOKEN_EXPIRED', {
      headers: { 'www-authenticate': undefined },
    }),
  },
  '§5.8': { 'items belong to who has created them': owned() },

  '§7': {
    'a 404 does not name the id': errors(404, (detail) => ({ ...detail, detail: 'not found' })),
    'an unknown item is a 200 without data': replies([read], (reply) => {
      const body = { session_id: randomUUID(), status: 'success', message: 'none', data: null }
      return reply.status === 404 ? { ...reply, status: 200, text: JSON.stringify(body) } : reply
    }),
    'the detail of an error is a text': errors(401, ({ detail }) => detail),
    'the detail of a 422 is an array': errors(422, (detail) => [detail]),
    'errors are not in detail': bodies(undefined, 401, ({ detail }) => detail),
  },
  '§7.1': {
    'the session_id of an error is empty': errors(422, (detail) => ({ ...detail, session_id: '' })),
  },

  '§8': {
    'project_id has 255 characters at most': refusing(
      (request) => String(sentValue(request)?.project_id).length > 255,
      invalid,
    ),
    'project_id has 2 characters at least': refusing((request) => {
      const projectId = sentValue(request)?.project_id
      return projectId !== undefined && String(projectId).length < 2
    }, invalid),
    'the list has a parameter limit': (request, pass, service) => {
      const limit = Number(/[?&]limit=(\d+)/.exec(request.path)?.[1] ?? Number.POSITIVE_INFINITY)
      return listed((all) => all.slice(0, limit))(request, pass, service)
    },
  },
  '§9.1': {
    'health is outside of the prefix': requests([health], (request) => ({
      ...request,
      path: '/nowhere',
    })),
  },
  '§9.2': {
    'the version has two numbers': changed(health, { version: '1.0' }),
    'the version begins with v': changed(health, { version: 'v1.0.0' }),
  },
}

export const defects = Object.entries(byClause).flatMap(([clause, all]) =>
  Object.entries(all).map(([title, behavior]) => ({ clause, title, behavior })),
)
