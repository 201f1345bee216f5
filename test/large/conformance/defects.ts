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
  algorithmOf,
  claimsOf,
  clientsId,
  code,
  create,
  errors,
  headers,
  health,
  invalid,
  isSignedWell,
  itemId,
  itemIn,
  lacking,
  lettingIn,
  list,
  listed,
  type Members,
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
  sentValue,
  stale,
  status,
  stillListed,
  tokenOf,
  unauthorized,
  withBody,
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

const sessionId = randomUUID()

export const defects: readonly { clause: string; title: string; behavior: Behavior }[] = [
  { clause: '§1.1', title: 'nothing can be deleted', behavior: status([remove], 204, 405) },
  {
    clause: '§1.3',
    title: 'health needs a token',
    behavior: refusing(
      (request) => endpointOf(request) === health && !request.headers.authorization,
      unauthorized,
    ),
  },

  ...[
    { title: 'health', of: [health], status: 200 },
    { title: 'a create', of: [create], status: 201 },
    { title: 'the list', of: [list], status: 200 },
    { title: 'a read', of: [read], status: 200 },
    { title: 'a replace', of: [replace], status: 200 },
  ].map(({ title, of, status }) => ({
    clause: '§1.4',
    title: `${title} has no session_id`,
    behavior: bodies(of, status, (body) => lacking(body, 'session_id')),
  })),
  ...[401, 404, 422].map((status) => ({
    clause: '§1.4',
    title: `a ${status} has no session_id`,
    behavior: errors(status, (detail) => lacking(detail, 'session_id')),
  })),
  {
    clause: '§1.4',
    title: 'the session_id is always the same',
    behavior: replies(undefined, (reply) => ({
      ...reply,
      text: reply.text.replace(/"session_id":"[^"]*"/, `"session_id":"${sessionId}"`),
    })),
  },
  {
    clause: '§1.4',
    title: 'the session_id is no UUID v4',
    behavior: replies(undefined, (reply) => ({
      ...reply,
      text: reply.text.replace(/("session_id":"[^"]{14})4/, '$11'),
    })),
  },

  {
    clause: '§1.5',
    title: 'answers lack Access-Control-Allow-Origin',
    behavior: headers([200, 201], { 'access-control-allow-origin': undefined }),
  },
  {
    clause: '§1.5',
    title: 'errors lack Access-Control-Allow-Origin',
    behavior: headers([401, 404, 422], { 'access-control-allow-origin': undefined }),
  },
  {
    clause: '§1.5',
    title: 'only one origin is allowed',
    behavior: headers([200, 201, 204, 401, 404, 422], {
      'access-control-allow-origin': 'https://app.example',
    }),
  },
  {
    clause: '§1.5',
    title: 'a preflight needs a token',
    behavior: refusing(({ method }) => method === 'OPTIONS', unauthorized),
  },
  ...['PUT', 'DELETE'].map((method) => ({
    clause: '§1.5',
    title: `a preflight does not allow ${method}`,
    behavior: headers([204], {
      'access-control-allow-methods': ['GET', 'POST', 'PUT', 'DELETE']
        .filter((other) => other !== method)
        .join(', '),
    }),
  })),
  {
    clause: '§1.5',
    title: 'a preflight allows any header, which leaves out Authorization',
    behavior: headers([204], { 'access-control-allow-headers': '*' }),
  },
  {
    clause: '§1.5',
    title: 'a preflight does not allow Content-Type',
    behavior: headers([204], { 'access-control-allow-headers': 'Authorization' }),
  },

  {
    clause: '§1.6',
    title: 'health is plain text',
    behavior: replies([health], (reply) => ({ ...reply, text: 'OK' })),
  },
  {
    clause: '§1.6',
    title: 'bodies are JSON with another Content-Type',
    behavior: headers([200, 201], { 'content-type': 'text/html' }),
  },
  {
    clause: '§1.6',
    title: 'errors are JSON with another Content-Type',
    behavior: headers([401, 404, 422], { 'content-type': 'text/plain' }),
  },
  {
    clause: '§1.6',
    title: 'bodies may not begin with white space',
    behavior: refusing(({ body }) => /^\s/.test(body), invalid),
  },
  {
    clause: '§1.6',
    title: 'Content-Type may not have a charset',
    behavior: refusing((request) => /charset/.test(request.headers['content-type'] ?? ''), {
      ...invalid,
      status: 415,
    }),
  },

  {
    clause: '§2.1',
    title: 'ids are no UUIDs',
    behavior: otherIds((_, id) => `item-${id.slice(0, 8)}`),
  },
  {
    clause: '§2.1',
    title: 'the id is taken from the client',
    behavior: otherIds((request, id) => clientsId(request) ?? id),
  },
  {
    clause: '§2.1',
    title: 'a replace gives the item another id',
    behavior: bodies([replace], 200, (body) => ({
      ...body,
      data: { ...record(body.data), id: randomUUID() },
    })),
  },
  {
    clause: '§2.1',
    title: 'a replace answers with the id in data',
    behavior: bodies([replace], 200, (body, request) => ({
      ...body,
      data: { ...record(body.data), id: clientsId(request) ?? itemId(request) },
    })),
  },
  {
    clause: '§2.1',
    title: 'project_id is not copied',
    behavior: items((item) => ({ ...item, project_id: null })),
  },
  {
    clause: '§2.1',
    title: 'data is a member of the item',
    behavior: items(({ id, project_id, ...data }) => ({ id, project_id, data })),
  },
  {
    clause: '§2.1',
    title: 'a member named data is taken apart',
    behavior: items((item) => ({
      ...item,
      ...(typeof item.data === 'object' ? item.data : {}),
      data: undefined,
    })),
  },
  {
    clause: '§2.1',
    title: 'numbers are written as strings',
    behavior: values((value) => (typeof value === 'number' ? String(value) : value)),
  },
  {
    clause: '§2.1',
    title: 'fractions are cut off',
    behavior: values((value) => (typeof value === 'number' ? Math.trunc(value) : value)),
  },
  { clause: '§2.1', title: 'large integers are rounded', behavior: values((value) => value) },
  {
    clause: '§2.1',
    title: 'numbers have single precision',
    behavior: values((value) => (typeof value === 'number' ? Math.fround(value) : value)),
  },
  {
    clause: '§2.1',
    title: 'booleans are numbers',
    behavior: values((value) => (typeof value === 'boolean' ? Number(value) : value)),
  },
  {
    clause: '§2.1',
    title: 'empty strings are null',
    behavior: values((value) => (value === '' ? null : value)),
  },
  {
    clause: '§2.1',
    title: 'strings are trimmed',
    behavior: values((value) => (typeof value === 'string' ? value.trim() : value)),
  },
  {
    clause: '§2.1',
    title: 'strings are normalized',
    behavior: values((value) => (typeof value === 'string' ? value.normalize('NFD') : value)),
  },
  {
    clause: '§2.1',
    title: 'strings end at NUL',
    behavior: values((value) => (typeof value === 'string' ? value.split('\0', 1)[0] : value)),
  },
  {
    clause: '§2.1',
    title: 'strings lose what is outside the Basic Multilingual Plane',
    behavior: values((value) =>
      typeof value === 'string' ? value.replaceAll(/[\ud800-\udfff]/g, '?') : value,
    ),
  },
  {
    clause: '§2.1',
    title: 'strings are cut at 65,535 characters',
    behavior: values((value) => (typeof value === 'string' ? value.slice(0, 65_535) : value)),
  },
  {
    clause: '§2.1',
    title: 'members that are null are left out',
    behavior: values((value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))
        : value,
    ),
  },
  {
    clause: '§2.1',
    title: 'empty arrays are null',
    behavior: values((value) => (Array.isArray(value) && value.length === 0 ? null : value)),
  },
  {
    clause: '§2.1',
    title: 'empty objects are null',
    behavior: values((value) =>
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.keys(value).length === 0
        ? null
        : value,
    ),
  },
  {
    clause: '§2.1',
    title: 'arrays are sorted',
    behavior: values((value) => (Array.isArray(value) ? value.toSorted() : value)),
  },
  {
    clause: '§2.1',
    title: 'names are in lower case',
    behavior: items((item) =>
      Object.fromEntries(Object.entries(item).map(([name, value]) => [name.toLowerCase(), value])),
    ),
  },
  {
    clause: '§2.1',
    title: 'dots in names make objects',
    behavior: items((item) =>
      Object.fromEntries(
        Object.entries(item).map(([name, value]) =>
          name.includes('.')
            ? [name.replace(/\..*/, ''), { [name.replace(/.*\./, '')]: value }]
            : [name, value],
        ),
      ),
    ),
  },
  {
    clause: '§2.1',
    title: 'a member named __proto__ is lost',
    behavior: items((item) => Object.assign({}, item)),
  },
  {
    clause: '§2.1',
    title: 'members that JavaScript objects inherit are lost',
    behavior: items((item) =>
      Object.fromEntries(
        Object.entries(item).filter(([name]) => !(name in {}) || name === '__proto__'),
      ),
    ),
  },
  {
    clause: '§2.1',
    title: 'the list has less of the items',
    behavior: listed((all) => all.map(({ id, project_id }) => ({ id, project_id }))),
  },

  {
    clause: '§2.2',
    title: 'data may not be empty',
    behavior: refusing((request) => request.body.includes('"data":{}'), invalid),
  },
  {
    clause: '§2.2',
    title: 'project_id is required',
    behavior: refusing(
      (request) => withBody.includes(endpointOf(request)) && !request.body.includes('project_id'),
      invalid,
    ),
  },
  ...[create, replace].flatMap((endpoint) =>
    [
      { title: 'a missing data', change: (value: Members) => ({ data: {}, ...value }) },
      {
        title: 'null for data',
        change: (value: Members) => (value.data === null ? { ...value, data: {} } : value),
      },
      {
        title: 'an array for data',
        change: (value: Members) =>
          Array.isArray(value.data) ? { ...value, data: { ...value.data } } : value,
      },
      {
        title: 'a value for data',
        change: (value: Members) =>
          typeof value.data === 'object' || value.data === undefined
            ? value
            : { ...value, data: { value: value.data } },
      },
      {
        title: 'an empty project_id',
        change: (value: Members) =>
          value.project_id === '' ? lacking(value, 'project_id') : value,
      },
      {
        title: 'a number or boolean for project_id',
        change: (value: Members) =>
          /number|boolean/.test(typeof value.project_id)
            ? { ...value, project_id: String(value.project_id) }
            : value,
      },
      {
        title: 'an array or object for project_id',
        change: (value: Members) =>
          typeof value.project_id === 'object' ? lacking(value, 'project_id') : value,
      },
    ].map(({ title, change }) => ({
      clause: '§2.2',
      title: `${endpoint} accepts ${title}`,
      behavior: requestValues(change, [endpoint]),
    })),
  ),

  ...[
    { clause: '§2.3', title: 'a create', of: create, at: 201 },
    { clause: '§2.3', title: 'a read', of: read, at: 200 },
    { clause: '§2.3', title: 'a replace', of: replace, at: 200 },
  ].flatMap(({ clause, title, of, at }) => [
    {
      clause,
      title: `${title} has another status`,
      behavior: bodies([of], at, (body) => ({ ...body, status: 'ok' })),
    },
    {
      clause,
      title: `${title} has no message`,
      behavior: bodies([of], at, (body) => lacking(body, 'message')),
    },
    {
      clause,
      title: `${title} has no data`,
      behavior: bodies([of], at, (body) => ({ ...body, data: null })),
    },
  ]),
  {
    clause: '§2.3',
    title: 'a create has another message',
    behavior: bodies([create], 201, (body) => ({ ...body, message: 'Created' })),
  },
  {
    clause: '§2.3',
    title: 'a read has another message',
    behavior: bodies([read], 200, (body) => ({ ...body, message: 'OK' })),
  },

  ...['service_name', 'version', 'services_summary'].map((name) => ({
    clause: '§2.4',
    title: `health has no ${name}`,
    behavior: bodies([health], 200, (body) => lacking(body, name)),
  })),
  {
    clause: '§2.4',
    title: 'service_name is another one each time',
    behavior: bodies([health], 200, (body) => ({ ...body, service_name: randomUUID() })),
  },
  {
    clause: '§2.4',
    title: 'service_name identifies nothing',
    behavior: bodies([health], 200, (body) => ({ ...body, service_name: '' })),
  },
  {
    clause: '§2.4',
    title: 'the counts are strings',
    behavior: bodies([health], 200, (body) => ({
      ...body,
      services_summary: { total: '1', healthy: '1', unhealthy: '0' },
    })),
  },
  {
    clause: '§2.4',
    title: 'the counts do not add up',
    behavior: bodies([health], 200, (body) => ({
      ...body,
      services_summary: { total: 2, healthy: 1, unhealthy: 0 },
    })),
  },

  {
    clause: '§2.5',
    title: 'errors have no error_code',
    behavior: errors(401, (detail) => lacking(detail, 'error_code')),
  },
  {
    clause: '§2.5',
    title: 'errors have no detail',
    behavior: errors(422, (detail) => lacking(detail, 'detail')),
  },
  {
    clause: '§2.6',
    title: 'iat is required',
    behavior: refusing(
      (request) =>
        claimsOf(request)?.exp !== undefined &&
        claimsOf(request)?.iat === undefined &&
        Number(claimsOf(request)?.exp) > inSeconds(0),
      unauthorized,
    ),
  },
  {
    clause: '§2.6',
    title: 'exp has to fit 32 bits',
    behavior: refusing((request) => Number(claimsOf(request)?.exp) > 2 ** 31, unauthorized),
  },

  {
    clause: '§3',
    title: 'a replace creates an item',
    behavior: async (request, pass) => {
      const reply = await pass(request)
      if (endpointOf(request) !== replace || reply.status !== 404) return reply
      const made = await pass({ ...request, method: 'POST', path: '/items' })
      return { ...made, status: 200 }
    },
  },
  {
    clause: '§3',
    title: 'an invalid create makes an empty item',
    behavior: async (request, pass) => {
      const reply = await pass(request)
      if (endpointOf(request) === create && reply.status === 422) {
        const project_id = sentValue(request)?.project_id
        await pass({ ...request, body: JSON.stringify({ data: {}, project_id }) })
      }
      return reply
    },
  },
  {
    clause: '§3',
    title: 'an invalid replace empties the item',
    behavior: async (request, pass) => {
      const reply = await pass(request)
      if (endpointOf(request) === replace && reply.status === 422) {
        await pass({ ...request, body: '{"data":{}}' })
      }
      return reply
    },
  },
  {
    clause: '§3',
    title: 'a delete removes other items too',
    behavior: async (request, pass, service) => {
      const reply = await pass(request)
      if (endpointOf(request) === remove && reply.status === 204) {
        const all = record(JSON.parse((await service.call('GET', '/items')).text)).data
        for (const item of Array.isArray(all) ? all.slice(-2) : []) {
          await service.call('DELETE', `/items/${record(item).id}`)
        }
      }
      return reply
    },
  },
  {
    clause: '§3',
    title: 'what is deleted can be read',
    behavior: async (request, pass, service) => {
      if (endpointOf(request) !== remove || !tokenOf(request)) return await pass(request)
      const { status } = await readBehind(service, itemId(request))
      return status === 404 ? await pass(request) : { status: 204, headers: {}, text: '' }
    },
  },
  {
    clause: '§3',
    title: 'health is neither healthy nor unhealthy',
    behavior: bodies([health], 200, (body) => ({ ...body, status: 'ok' })),
  },

  { clause: '§4', title: 'health answers 204', behavior: status([health], 200, 204) },
  { clause: '§4', title: 'the list answers 206', behavior: status([list], 200, 206) },
  { clause: '§4', title: 'a create answers 200', behavior: status([create], 201, 200) },
  { clause: '§4', title: 'a read answers 203', behavior: status([read], 200, 203) },
  { clause: '§4', title: 'a replace answers 202', behavior: status([replace], 200, 202) },
  { clause: '§4', title: 'a delete answers 200', behavior: status([remove], 204, 200) },
  ...ofItems.map((endpoint) => ({
    clause: '§4',
    title: `${endpoint} needs no token`,
    behavior: publicEndpoint(endpoint),
  })),

  {
    clause: '§4.1',
    title: 'health is unhealthy',
    behavior: bodies([health], 200, (body) => ({ ...body, status: 'unhealthy' })),
  },
  {
    clause: '§4.2',
    title: 'an empty list is a 404',
    behavior: replies([list], (reply) =>
      reply.text.includes('"data":[]') ? { ...reply, status: 404 } : reply,
    ),
  },
  {
    clause: '§4.2',
    title: 'the list has pages of 100 items',
    behavior: listed((all) => all.slice(0, 100)),
  },
  {
    clause: '§4.2',
    title: 'the list has the latest 200 items',
    behavior: listed((all) => all.slice(-200)),
  },
  {
    clause: '§4.2',
    title: 'the list has an item twice',
    behavior: listed((all) => [...all.slice(-1), ...all]),
  },
  { clause: '§4.2', title: 'the list is cached', behavior: stale(list) },
  {
    clause: '§4.2',
    title: 'the list is an object of items',
    behavior: listed((all) => Object.fromEntries(all.map((item) => [String(item.id), item]))),
  },
  {
    clause: '§4.3',
    title: 'a create answers with the id alone',
    behavior: bodies([create], 201, (body) => ({ ...body, data: { id: record(body.data).id } })),
  },
  { clause: '§4.3', title: 'an equal create makes no item', behavior: sameForEqual() },
  { clause: '§4.3', title: 'an invalid body is a 400', behavior: status(withBody, 422, 400) },
  {
    clause: '§4.3',
    title: 'an invalid body has another code',
    behavior: code('VALIDATION_ERROR', 'INVALID_BODY', 422),
  },
  {
    clause: '§4.4',
    title: 'a read answers with an array',
    behavior: bodies([read], 200, (body) => ({ ...body, data: [body.data] })),
  },
  { clause: '§4.5', title: 'reads are cached', behavior: stale(read) },
  {
    clause: '§4.5',
    title: 'a replace keeps other members',
    behavior: async (request, pass, service) => {
      const value = sentValue(request)
      if (endpointOf(request) !== replace || value?.data === undefined) return await pass(request)
      const { text, status } = await readBehind(service, itemId(request))
      if (status !== 200) return await pass(request)
      const { id: _id, project_id: _project, ...members } = itemIn(text)
      const data =
        typeof value.data === 'object' && value.data !== null && !Array.isArray(value.data)
          ? { ...members, ...value.data }
          : value.data
      return await pass({ ...request, body: JSON.stringify({ ...value, data }) })
    },
  },
  {
    clause: '§4.5',
    title: 'a replace keeps project_id',
    behavior: async (request, pass, service) => {
      const value = sentValue(request)
      if (endpointOf(request) !== replace || value === undefined) return await pass(request)
      const { text, status } = await readBehind(service, itemId(request))
      if (status !== 200) return await pass(request)
      const { project_id } = itemIn(text)
      return await pass({ ...request, body: JSON.stringify({ project_id, ...value }) })
    },
  },
  {
    clause: '§4.5',
    title: 'a replace answers with the item before',
    behavior: async (request, pass, service) => {
      if (endpointOf(request) !== replace) return await pass(request)
      const before = await readBehind(service, itemId(request))
      const reply = await pass(request)
      if (reply.status !== 200) return reply
      const data = itemIn(before.text)
      return { ...reply, text: JSON.stringify({ ...record(JSON.parse(reply.text)), data }) }
    },
  },
  {
    clause: '§4.5',
    title: 'a replace changes nothing',
    behavior: async (request, pass, service) => {
      if (endpointOf(request) !== replace) return await pass(request)
      const before = await readBehind(service, itemId(request))
      const reply = await pass(request)
      if (reply.status === 200) {
        const { id: _id, project_id, ...data } = itemIn(before.text)
        await pass({
          ...request,
          body: JSON.stringify({ data, ...(project_id === null ? {} : { project_id }) }),
        })
      }
      return reply
    },
  },
  {
    clause: '§4.6',
    title: 'a delete answers 200 with the item',
    behavior: async (request, pass, service) => {
      if (endpointOf(request) !== remove) return await pass(request)
      const before = await readBehind(service, itemId(request))
      const reply = await pass(request)
      return reply.status === 204 ? { ...reply, status: 200, text: before.text } : reply
    },
  },
  { clause: '§4.6', title: 'what is deleted is still listed', behavior: stillListed() },

  {
    clause: '§5.1',
    title: 'health refuses an invalid token',
    behavior: refusing(
      (request) =>
        endpointOf(request) === health &&
        /Basic|not-a-jwt/.test(request.headers.authorization ?? ''),
      unauthorized,
    ),
  },
  {
    clause: '§5.1',
    title: 'a delete is for administrators',
    behavior: refusing(
      (request) =>
        endpointOf(request) === remove &&
        claimsOf(request) !== undefined &&
        claimsOf(request)?.admin !== true,
      { ...unauthorized, status: 403 },
    ),
  },
  { clause: '§5.2', title: 'a token is verified once', behavior: remembering() },
  {
    clause: '§5.3',
    title: 'the header of a token has to have its usual order',
    behavior: refusing(
      (request) =>
        tokenOf(request)?.startsWith(Buffer.from('{"typ"').toString('base64url')) === true,
      unauthorized,
    ),
  },
  {
    clause: '§5.3',
    title: 'the payload of a token has to be base64, not base64url',
    behavior: refusing(
      (request) => /[-_].*\./.test(tokenOf(request)?.split('.')[1]?.concat('.') ?? ''),
      unauthorized,
    ),
  },
  {
    clause: '§5.4',
    title: 'exp is not checked',
    behavior: lettingIn(isSignedWell, { exp: inSeconds(86_400) }),
  },
  {
    clause: '§5.4',
    title: 'exp has a minute of leeway',
    behavior: lettingIn(
      (request, secret) =>
        isSignedWell(request, secret) && Number(claimsOf(request)?.exp) > inSeconds(-60),
      { exp: inSeconds(86_400) },
    ),
  },
  {
    clause: '§5.6',
    title: 'signatures are not checked',
    behavior: lettingIn(
      (request) => claimsOf(request) !== undefined && Number(claimsOf(request)?.exp) > inSeconds(0),
    ),
  },
  {
    clause: '§5.6',
    title: 'a token without a signature is accepted',
    behavior: lettingIn((request) => tokenOf(request)?.endsWith('.') === true),
  },
  ...['none', 'HS384', 'HS512', 'RS256', 'ES256'].map((algorithm) => ({
    clause: '§5.6',
    title: `the algorithm ${algorithm} is accepted`,
    behavior: lettingIn((request) => algorithmOf(request) === algorithm),
  })),
  {
    clause: '§5.6',
    title: 'an empty secret is accepted',
    behavior: lettingIn(
      (request) =>
        claimsOf(request) !== undefined &&
        tokenOf(request) === mintToken(claimsOf(request), { secret: '' }),
    ),
  },
  {
    clause: '§5.6',
    title: 'any scheme is accepted',
    behavior: (request, pass) =>
      pass({
        ...request,
        headers: {
          ...request.headers,
          authorization: request.headers.authorization?.replace(/^\w+ (?=e)/, 'Bearer '),
        },
      }),
  },
  {
    clause: '§5.6',
    title: 'a token is accepted without a scheme',
    behavior: (request, pass) =>
      pass({
        ...request,
        headers: {
          ...request.headers,
          authorization: request.headers.authorization?.replace(/^(?=ey)/, 'Bearer '),
        },
      }),
  },
  {
    clause: '§5.6',
    title: 'a missing token is a 403',
    behavior: replies(undefined, (reply) =>
      reply.text.includes('MISSING_TOKEN') ? { ...reply, status: 403 } : reply,
    ),
  },
  {
    clause: '§5.6',
    title: 'an expired token is a 403',
    behavior: replies(undefined, (reply) =>
      reply.text.includes('TOKEN_EXPIRED') ? { ...reply, status: 403 } : reply,
    ),
  },
  {
    clause: '§5.6',
    title: 'another scheme is INVALID_TOKEN',
    behavior: code('MISSING_TOKEN', 'INVALID_TOKEN'),
  },
  {
    clause: '§5.6',
    title: 'an expired token is INVALID_TOKEN',
    behavior: code('TOKEN_EXPIRED', 'INVALID_TOKEN'),
  },
  {
    clause: '§5.6',
    title: 'an invalid token is MISSING_TOKEN',
    behavior: code('INVALID_TOKEN', 'MISSING_TOKEN'),
  },
  ...[create, replace, remove].map(
    (endpoint) =>
      ({
        clause: '§5.6',
        title: `${endpoint} is refused, and done`,
        behavior: async (request, pass, service) => {
          const reply = await pass(request)
          if (reply.status === 401 && endpointOf(request) === endpoint)
            await pass(withToken(request, service.validToken()))
          return reply
        },
      }) satisfies { clause: string; title: string; behavior: Behavior },
  ),
  {
    clause: '§5.7',
    title: 'a 401 has no WWW-Authenticate',
    behavior: headers([401], { 'www-authenticate': undefined }),
  },
  {
    clause: '§5.7',
    title: 'a 401 for an expired token has no WWW-Authenticate',
    behavior: replies(undefined, (reply) =>
      reply.text.includes('TOKEN_EXPIRED')
        ? { ...reply, headers: { ...reply.headers, 'www-authenticate': undefined } }
        : reply,
    ),
  },
  { clause: '§5.8', title: 'items belong to who has created them', behavior: owned() },

  {
    clause: '§7',
    title: 'a 404 does not name the id',
    behavior: errors(404, (detail) => ({ ...detail, detail: 'Item not found' })),
  },
  {
    clause: '§7',
    title: 'an unknown item is a 200 without data',
    behavior: replies([read], (reply) =>
      reply.status === 404
        ? {
            ...reply,
            status: 200,
            text: JSON.stringify({
              session_id: randomUUID(),
              status: 'success',
              message: 'none',
              data: null,
            }),
          }
        : reply,
    ),
  },
  {
    clause: '§7',
    title: 'the detail of an error is a text',
    behavior: errors(401, ({ detail }) => detail),
  },
  {
    clause: '§7',
    title: 'the detail of a 422 is an array',
    behavior: errors(422, (detail) => [detail]),
  },
  {
    clause: '§7',
    title: 'errors are not in detail',
    behavior: bodies(undefined, 401, ({ detail }) => detail),
  },
  {
    clause: '§7.1',
    title: 'the session_id of an error is empty',
    behavior: errors(422, (detail) => ({ ...detail, session_id: '' })),
  },

  {
    clause: '§8',
    title: 'project_id has 255 characters at most',
    behavior: refusing((request) => String(sentValue(request)?.project_id).length > 255, invalid),
  },
  {
    clause: '§8',
    title: 'project_id has 2 characters at least',
    behavior: refusing(
      (request) =>
        sentValue(request)?.project_id !== undefined &&
        String(sentValue(request)?.project_id).length < 2,
      invalid,
    ),
  },
  {
    clause: '§8',
    title: 'the list has a parameter limit',
    behavior: (request, pass, service) => {
      const limit = Number(/[?&]limit=(\d+)/.exec(request.path)?.[1] ?? Number.POSITIVE_INFINITY)
      return listed((all) => all.slice(0, limit))(request, pass, service)
    },
  },
  {
    clause: '§9.1',
    title: 'health is outside of the prefix',
    behavior: requests([health], (request) => ({ ...request, path: '/nowhere' })),
  },
  {
    clause: '§9.2',
    title: 'the version has two numbers',
    behavior: bodies([health], 200, (body) => ({ ...body, version: '1.0' })),
  },
  {
    clause: '§9.2',
    title: 'the version begins with v',
    behavior: bodies([health], 200, (body) => ({ ...body, version: 'v1.0.0' })),
  },
]
