/** The server of side `fastify`. */

import { randomUUID } from 'node:crypto'
import cors from '@fastify/cors'
import jwt from '@fastify/jwt'
import Fastify from 'fastify'

const items = new Map()

const itemRequest = {
  type: 'object',
  required: ['data'],
  properties: {
    data: { type: 'object', additionalProperties: true },
    project_id: { type: 'string', minLength: 1 },
  },
}
const app = Fastify({ genReqId: () => randomUUID(), bodyLimit: 16 * 1024 * 1024 })
await app.register(cors, { origin: '*', exposedHeaders: ['X-Session-Id', 'WWW-Authenticate'] })
await app.register(jwt, { secret: process.env.JWT_SECRET, verify: { algorithms: ['HS256'] } })

app.addHook('onRequest', async (request, reply) => {
  reply.header('X-Session-Id', request.id)
})

app.setErrorHandler((error, request, reply) => {
  const status = error.validation ? 422 : (error.statusCode ?? 500)
  if (status === 401) reply.header('WWW-Authenticate', 'Bearer')
  reply.status(status).send({
    detail: { detail: error.message, session_id: request.id, error_code: codeOf(error, status) },
  })
})

app.get('/api/v1/health', async (request) => ({
  session_id: request.id,
  status: 'healthy',
  service_name: 'fastify',
  version: '1.0.0',
  services_summary: { total: 1, healthy: 1, unhealthy: 0 },
}))

await app.register(
  async (routes) => {
    routes.addHook('onRequest', async (request) => {
      const payload = await request.jwtVerify()
      if (typeof payload.sub !== 'string' || !Number.isInteger(payload.exp)) {
        throw Object.assign(new Error('sub and exp are required'), { statusCode: 401 })
      }
    })

    // No response schemas: items are free-form, and Fastify's serialiser takes four times as long
    // as JSON.stringify for a list of them.
    routes.get('/', async (request, reply) =>
      reply.send(answer(request, 'success', 'Items retrieved successfully', [...items.values()])),
    )

    routes.post('/', { schema: { body: itemRequest } }, async (request, reply) => {
      const { data, project_id = null } = request.body
      const created = { ...data, id: randomUUID(), project_id }
      items.set(created.id, created)
      return reply
        .status(201)
        .send(answer(request, 'created', 'Item created successfully', created))
    })

    routes.get('/:id', async (request, reply) =>
      reply.send(answer(request, 'success', 'Item retrieved successfully', found(request))),
    )

    routes.put('/:id', { schema: { body: itemRequest } }, async (request, reply) => {
      const { id } = found(request)
      const { data, project_id = null } = request.body
      const replaced = { ...data, id, project_id }
      items.set(id, replaced)
      return reply.send(answer(request, 'updated', 'Item updated successfully', replaced))
    })

    routes.delete('/:id', async (request, reply) => {
      items.delete(found(request).id)
      return reply.status(204).send()
    })
  },
  { prefix: '/api/v1/items' },
)

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })

function answer(request, status, message, data) {
  return { session_id: request.id, status, message, data }
}

function found(request) {
  const item = items.get(request.params.id)
  if (item) return item
  throw Object.assign(new Error(`Item ${request.params.id} not found`), { statusCode: 404 })
}

function codeOf(error, status) {
  if (status === 422) return 'VALIDATION_ERROR'
  if (status !== 401) return undefined
  if (error.code === 'FST_JWT_NO_AUTHORIZATION_IN_HEADER') return 'MISSING_TOKEN'
  return error.code === 'FST_JWT_AUTHORIZATION_TOKEN_EXPIRED' ? 'TOKEN_EXPIRED' : 'INVALID_TOKEN'
}
