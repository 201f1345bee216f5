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

/** Errors that every item endpoint may return. */
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
const unknownItem = {
  404: response('The item does not exist; no `error_code`', 'ErrorResponse'),
}

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
          summary: 'Check whether the service is healthy',
          security: [],
          responses: {
            200: response('Healthy', 'HealthCheckResponse'),
            503: response('Unhealthy', 'HealthCheckResponse'),
          },
        },
      },
      [paths.items]: {
        get: {
          operationId: 'listItems',
          summary: 'List all items in order of creation',
          responses: { 200: response('All items', 'ItemListResponse'), ...errors(guarded) },
        },
        post: {
          operationId: 'createItem',
          summary: 'Create an item',
          requestBody: body,
          responses: {
            201: response('The new item', 'ItemResponse'),
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
            200: response('The item', 'ItemResponse'),
            ...unknownItem,
            ...errors(guarded),
          },
        },
        put: {
          operationId: 'replaceItem',
          summary: 'Replace an item completely',
          requestBody: body,
          responses: {
            200: response('The replaced item', 'ItemResponse'),
            ...unknownItem,
            ...errors([...guarded, ...withBody]),
          },
        },
        delete: {
          operationId: 'deleteItem',
          summary: 'Delete an item',
          responses: {
            204: { description: 'Deleted' },
            ...unknownItem,
            ...errors([...guarded, 'STORE_FULL']),
          },
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
    typeMode: 'output', // what the service sends always has the fields with a default
  })
}

function json(model: ModelName) {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${model}` } } }
}

function response(description: string, model: ModelName) {
  return { description, content: json(model) }
}

/** The responses for some errors, one for each status. */
function errors(codes: ErrorCode[]): Record<number, ReturnType<typeof response>> {
  return Object.fromEntries(
    codes.map((code) => {
      const { status } = errorKinds[code]
      const descriptions = codes
        .filter((other) => errorKinds[other].status === status)
        .map((other) => `\`${other}\`: ${errorKinds[other].when}`)
      return [status, response(descriptions.join('\n\n'), 'ErrorResponse')]
    }),
  )
}
