/** Server for the side `bun`: the same interface with Bun's own server and router. */

import jwt from 'jsonwebtoken'
import * as v from 'valibot'

const { PORT, JWT_SECRET } = process.env
const items = new Map()

const ItemRequest = v.object({
  data: v.pipe(
    v.unknown(),
    v.check((data) => !Array.isArray(data), 'data is an array'),
    v.record(v.string(), v.unknown()),
  ),
  project_id: v.nullish(v.pipe(v.string(), v.minLength(1)), null),
})

function respond(status, body, headers) {
  const sessionId = crypto.randomUUID()
  const all = { 'Access-Control-Allow-Origin': '*', 'X-Session-Id': sessionId, ...headers }
  if (body === undefined) return new Response(null, { status, headers: all })
  return Response.json(body(sessionId), { status, headers: all })
}

function answer(code, status, message, data) {
  return respond(code, (session_id) => ({ session_id, status, message, data }))
}

function refuse(status, detail, error_code, headers) {
  return respond(status, (session_id) => ({ detail: { detail, session_id, error_code } }), headers)
}

function withToken(handle) {
  return (request) => {
    const [scheme, token] = request.headers.get('Authorization')?.split(' ') ?? []
    try {
      if (scheme !== 'Bearer') throw new Error('The token is missing')
      jwt.verify(token, JWT_SECRET, { algorithms: ['HS256'] })
    } catch (error) {
      return refuse(401, error.message, 'INVALID_TOKEN', { 'WWW-Authenticate': 'Bearer' })
    }
    return handle(request)
  }
}

async function write(request, id, code, status) {
  const body = await request.json().catch(() => undefined)
  const { success, output, issues } = v.safeParse(ItemRequest, body)
  if (!success) return refuse(422, issues[0].message, 'VALIDATION_ERROR')
  const item = { ...output.data, id, project_id: output.project_id }
  items.set(id, item)
  return answer(code, status, `Item ${status} successfully`, item)
}

function ofItem(handle) {
  return withToken((request) => {
    const { id } = request.params
    return items.has(id) ? handle(request, id) : refuse(404, `Item ${id} not found`)
  })
}

Bun.serve({
  port: Number(PORT),
  hostname: '127.0.0.1',
  development: false,
  routes: {
    '/api/v1/health': () =>
      respond(200, (session_id) => ({
        session_id,
        status: 'healthy',
        service_name: 'bun',
        version: '1.0.0',
        services_summary: { total: 1, healthy: 1, unhealthy: 0 },
      })),
    '/api/v1/items': {
      GET: withToken(() =>
        answer(200, 'success', 'Items retrieved successfully', [...items.values()]),
      ),
      POST: withToken((request) => write(request, crypto.randomUUID(), 201, 'created')),
    },
    '/api/v1/items/:id': {
      GET: ofItem((_request, id) =>
        answer(200, 'success', 'Item retrieved successfully', items.get(id)),
      ),
      PUT: ofItem((request, id) => write(request, id, 200, 'updated')),
      DELETE: ofItem((_request, id) => {
        items.delete(id)
        return respond(204)
      }),
    },
  },
})
