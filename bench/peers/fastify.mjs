/** Server for the side `fastify`: the same interface with schemas of the bodies and the usual plugins. */

import { randomUUID } from 'node:crypto'
import cors from '@fastify/cors'
import jwt from '@fastify/jwt'
import Fastify from 'fastify'

const { PORT, JWT_SECRET } = process.env
const app = Fastify({ bodyLimit: 16 * 1024 * 1024 })
await app.register(cors, { methods: ['GET', 'POST', 'PUT', 'DELETE'] })
await app.register(jwt, { secret: JWT_SECRET, verify: { algorithms: ['HS256'] } })
const items = new Map()

const envelope = (status, message, data) => ({ session_id: randomUUID(), status, message, data })

const problem = (detail, code) => ({
  detail: { detail, session_id: randomUUID(), error_code: code },
})

app.setErrorHandler((error, _request, reply) => {
  const status = error.validation ? 422 : (error.statusCode ?? 500)
  reply
    .code(status)
    .send(problem(error.message, error.validation ? 'VALIDATION_ERROR' : error.code))
})

app.addHook('onSend', async (_request, reply) => {
  reply.header('X-Session-Id', randomUUID())
})

app.get('/api/v1/health', async () => ({
  session_id: randomUUID(),
  status: 'healthy',
  service_name: 'fastify',
  version: '1.0.0',
  services_summary: { total: 1, healthy: 1, unhealthy: 0 },
}))

const body = {
  type: 'object',
  required: ['data'],
  properties: {
    data: { type: 'object', additionalProperties: true },
    project_id: { type: 'string', minLength: 1, nullable: true },
  },
}

app.register(
  async (routes) => {
    routes.addHook('onRequest', (request) => request.jwtVerify())

    routes.get('/', async () => {
      return envelope('success', 'Items retrieved successfully', [...items.values()])
    })

    routes.post('/', { schema: { body } }, async ({ body }, reply) => {
      const item = { ...body.data, id: randomUUID(), project_id: body.project_id ?? null }
      items.set(item.id, item)
      reply.code(201)
      return envelope('created', 'Item created successfully', item)
    })

    routes.get('/:id', async ({ params }, reply) => {
      const item = items.get(params.id)
      if (item) return envelope('success', 'Item retrieved successfully', item)
      return reply.code(404).send(problem(`Item ${params.id} not found`))
    })

    routes.put('/:id', { schema: { body } }, async ({ body, params }, reply) => {
      if (!items.has(params.id)) return reply.code(404).send(problem(`Item ${params.id} not found`))
      const item = { ...body.data, id: params.id, project_id: body.project_id ?? null }
      items.set(item.id, item)
      return envelope('updated', 'Item updated successfully', item)
    })

    routes.delete('/:id', async ({ params }, reply) => {
      if (items.delete(params.id)) return reply.code(204).send()
      return reply.code(404).send(problem(`Item ${params.id} not found`))
    })
  },
  { prefix: '/api/v1/items' },
)

await app.listen({ port: Number(PORT), host: '127.0.0.1' })
