/** The interface as an OpenAPI 3.1 document, made from the models and the error catalogue. @module */

import { toJsonSchemaDefs } from '@valibot/to-json-schema'
import { type ErrorCode, errorKinds } from './errors.js'
import * as models from './models.js'
import { paths, prefix } from './paths.js'

type ModelName = keyof typeof models

const itemId = {
  name: 'item_id',
  in: 'path',
  required: true,
  description: 'Id of the item, in any letter case',
  schema: { type: 'string' },
}

const body = { required: true, content: json('GenericRequest') }

/** Errors that every item endpoint can answer with. */
const guarded: ErrorCode[] = [
  'MISSING_TOKEN',
  'TOKEN_EXPIRED',
  'INVALID_TOKEN',
  'INTERNAL_ERROR',
  'AUTH_NOT_CONFIGURED',
  'SERVICE_UNAVAILABLE',
  'STORE_UNAVAILABLE',
]
const withBody: ErrorCode[] = ['PAYLOAD_TOO_LARGE', 'VALIDATION_ERROR', 'STORE_FULL']
const unknownItem = { 404: answer('The id is not in the store; no `error_code`', 'ErrorResponse') }

/** @param version semantic version of the service. */
export function openApiDocument(version: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Item Store Service',
      version,
      description: 'Stores free-form JSON items in memory, exact to every value.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: prefix }],
    security: [{ bearer: [] }],
    paths: {
      [paths.health]: {
        get: {
          operationId: 'checkHealth',
          summary: 'Whether the service can serve',
          security: [],
          responses: {
            200: answer('Healthy', 'HealthCheckResponse'),
            503: answer('Unhealthy', 'HealthCheckResponse'),
          },
        },
      },
      [paths.items]: {
        get: {
          operationId: 'listItems',
          summary: 'All items, in the order in which they were created',
          responses: { 200: answer('All items', 'ItemListResponse'), ...errors(guarded) },
        },
        post: {
          operationId: 'createItem',
          summary: 'Create an item',
          requestBody: body,
          responses: {
            201: answer('The new item', 'ItemResponse'),
            ...errors([...guarded, ...withBody]),
          },
        },
      },
      [paths.item]: {
        parameters: [itemId],
        get: {
          operationId: 'readItem',
          summary: 'Read an item',
          responses: {
            200: answer('The item', 'ItemResponse'),
            ...unknownItem,
            ...errors(guarded),
          },
        },
        put: {
          operationId: 'replaceItem',
          summary: 'Replace an item as a whole',
          requestBody: body,
          responses: {
            200: answer('The replaced item', 'ItemResponse'),
            ...unknownItem,
            ...errors([...guarded, ...withBody]),
          },
        },
        delete: {
          operationId: 'deleteItem',
          summary: 'Delete an item',
          responses: { 204: { description: 'Deleted' }, ...unknownItem, ...errors(guarded) },
        },
      },
    },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: schemas(),
    },
  }
}

/** The models as JSON Schemas, with references where one is part of another. */
function schemas(): object {
  return toJsonSchemaDefs(models, {
    target: 'draft-2020-12',
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    typeMode: 'output', // a field with a default is always there in what the service sends
  })
}

function json(model: ModelName) {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${model}` } } }
}

function answer(description: string, model: ModelName) {
  return { description, content: json(model) }
}

/** The responses for some errors, those of the same status in one. */
function errors(codes: ErrorCode[]): Record<number, ReturnType<typeof answer>> {
  return Object.fromEntries(
    codes.map((code) => {
      const { status } = errorKinds[code]
      const descriptions = codes
        .filter((other) => errorKinds[other].status === status)
        .map((other) => `\`${other}\`: ${errorKinds[other].when}`)
      return [status, answer(descriptions.join('\n\n'), 'ErrorResponse')]
    }),
  )
}
