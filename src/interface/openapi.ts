/** Describes the interface as an OpenAPI 3.1 document. @module */

import { toJsonSchemaDefs } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import type { ErrorName } from './errors.js'
import * as models from './models.js'
import {
  type DocumentedHeader,
  emptyResponse,
  entityTag,
  errorResponses,
  examples,
  itemId,
  jsonContent,
  jsonResponse,
  model,
  responseHeaders,
} from './openapi-responses.js'
import { pagePaths, paths, prefix, replayedHeader } from './paths.js'

const description = `Keeps free-form JSON items in memory. Every value comes back byte for byte as it was sent.

This holds for numbers of any size and precision, for the order of members, and for names such as \`__proto__\`.
A client that parses numbers as doubles rounds numbers that do not fit.

Each path answers HEAD like GET but without the body, and OPTIONS with 204 and the header \`Allow\`. Any other
method is a 405 \`METHOD_NOT_ALLOWED\`, any other path a 404 \`ROUTE_NOT_FOUND\`. Requests from other
origins are accepted.

All errors have the same shape. Programs should switch on \`error_code\`, as the wording of \`detail\` may
change, and ignore members, headers and codes that they do not know.`

const itemIdParameter = {
  name: 'item_id',
  in: 'path',
  required: true,
  description:
    'Id of the item, in any letter case. Text that is not a UUID is an unknown id. An empty id, or an id with a slash, makes another path',
  schema: { type: 'string', format: 'uuid' },
  example: itemId,
}
const project = {
  name: 'project_id',
  in: 'query',
  description:
    'Lists only the items of this project. The value is percent-encoded; an empty or repeated value is a 422',
  schema: { type: 'string', minLength: 1 },
  example: 'demo',
}
const conditions = [
  headerParameter(
    'If-Match',
    'Proceed only if the current `ETag` is in this list. `*` matches any tag. Otherwise 412',
    entityTag,
  ),
  headerParameter(
    'If-None-Match',
    'Proceed only if the current `ETag` is not in this list. Otherwise 304 for a read, and 412 for a change',
    entityTag,
  ),
]
const wait = headerParameter(
  'Prefer',
  '`wait=N` with `If-None-Match`: instead of a 304, wait up to N seconds, 60 at most, for a change',
  'wait=1',
)
const idempotencyKey = headerParameter(
  'Idempotency-Key',
  '1 to 255 visible ASCII characters. The same caller, key and body make one item, however often the request is sent; an item with another text is a 409',
  '8e03978e-40d5-43dd-bc93-6894a57f9324',
)

const ofAll: ErrorName[] = ['BAD_REQUEST', 'REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE', 'INTERNAL_ERROR']
const ofToken = ['MISSING_TOKEN', 'TOKEN_EXPIRED', 'INVALID_TOKEN', 'AUTH_NOT_CONFIGURED'] as const
const ofItems: ErrorName[] = [...ofAll, ...ofToken, 'STORE_UNAVAILABLE']
const underLoad: ErrorName[] = [...ofItems, 'SERVICE_UNAVAILABLE']
const ofItem: ErrorName[] = ['itemNotFound', 'ROUTE_NOT_FOUND', 'PRECONDITION_FAILED']
const withBody: ErrorName[] = ['PAYLOAD_TOO_LARGE', 'VALIDATION_ERROR', 'STORE_FULL']

const readHeaders = ['ETag', 'Preference-Applied'] as const
const notModifiedHeaders = ['Cache-Control', ...readHeaders] as const

/** Whether a list shows all items as they were at one moment, and whether they're in order of creation. */
export type ListGuarantees = Readonly<Record<'isSnapshot' | 'isInOrder', boolean>>

/** @param root URL of the service. Tools resolve the paths of a saved document against it. */
export function openApiDocument(
  version: string,
  { isSnapshot, isInOrder }: ListGuarantees,
  root = '',
): object {
  const order = isInOrder ? 'in the order of their creation' : 'in no particular order'
  const changes = isSnapshot
    ? 'as of one moment: changes made while the list is being sent are not in it'
    : 'each once; changes made while the list is being sent may or may not be in it'
  const kept = isInOrder ? '`id` and its place in the list' : '`id`'
  return {
    openapi: '3.1.0',
    info: {
      title: 'Item Store Service',
      version,
      description,
      contact: { name: 'The Item Store developers' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: root + prefix, description: 'The service that sent this document' }],
    externalDocs: {
      url: root + pagePaths.index,
      description: 'Index of the documentation, as text',
    },
    tags: [
      { name: 'items', description: 'Create, list, read, replace and delete items' },
      { name: 'health', description: 'Whether the service is healthy' },
    ],
    security: [{ bearer: [] }],
    paths: {
      [paths.health]: {
        get: {
          ...operation('health', 'checkHealth', 'Check the health'),
          description:
            'Needs no token. Works under overload too; `overload` then names the exceeded limit.',
          security: [],
          responses: {
            200: jsonResponse('Healthy', model('HealthCheckResponse'), ['healthy']),
            503: jsonResponse('Unhealthy', model('HealthCheckResponse'), ['unhealthy']),
            ...errorResponses(ofAll),
          },
        },
      },
      [paths.items]: {
        get: {
          ...operation('items', 'listItems', 'List all items'),
          parameters: [project, ...conditions, wait],
          description: `All items, or those of one project, ${order}, ${changes}. There is no paging.`,
          responses: {
            200: jsonResponse('All items', model('ItemListResponse'), ['items'], readHeaders),
            304: emptyResponse('Nothing was created, replaced or deleted', notModifiedHeaders),
            ...errorResponses([...underLoad, 'PRECONDITION_FAILED', 'VALIDATION_ERROR']),
          },
        },
        post: {
          ...operation('items', 'createItem', 'Create an item'),
          description:
            'The item has a new `id`, the `project_id` of the request and the members of its `data`. Members of `data` named `id` or `project_id` are dropped.',
          parameters: [idempotencyKey],
          requestBody: requestBody('itemRequest'),
          responses: {
            201: itemResponse('The new item', 'created', ['ETag', 'Location', replayedHeader]),
            ...errorResponses([...underLoad, ...withBody, 'IDEMPOTENCY_CONFLICT']),
          },
        },
      },
      [paths.item]: {
        parameters: [itemIdParameter],
        get: {
          ...operation('items', 'readItem', 'Read an item'),
          description: 'The item as it was created or last replaced.',
          parameters: [...conditions, wait],
          responses: {
            200: itemResponse('The item', 'success', readHeaders),
            304: emptyResponse('The client has the current item', notModifiedHeaders),
            ...errorResponses([...underLoad, ...ofItem]),
          },
        },
        put: {
          ...operation('items', 'replaceItem', 'Replace an item'),
          description: `The item keeps its ${kept}. All other members are gone, including a \`project_id\` that the request does not repeat. A replace never creates an item.`,
          parameters: conditions,
          requestBody: requestBody('replaceRequest'),
          responses: {
            200: itemResponse('The replaced item', 'updated', ['ETag']),
            // With an empty id, the path is that of the list, which supports neither PUT nor DELETE.
            ...errorResponses([...underLoad, ...ofItem, ...withBody, 'METHOD_NOT_ALLOWED']),
          },
        },
        delete: {
          ...operation('items', 'deleteItem', 'Delete an item'),
          description:
            'Works under overload too, since it frees memory. `STORE_FULL` means that a client is reading items next to this one and there is no memory to copy them; the item still exists.',
          parameters: conditions,
          responses: {
            204: emptyResponse('The item is deleted'),
            ...errorResponses([...ofItems, ...ofItem, 'METHOD_NOT_ALLOWED', 'STORE_FULL']),
          },
        },
      },
    },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            "A JSON Web Token with the claims of `TokenPayload`, signed with the service's secret. `item-store token --sub NAME` prints one.",
        },
      },
      schemas: schemas(),
      headers: responseHeaders,
      examples: examples(version),
    },
  }
}

function operation(tag: string, operationId: string, summary: string) {
  return { operationId, tags: [tag], summary }
}

function headerParameter(name: string, description: string, example: string): object {
  return { name, in: 'header', description, schema: { type: 'string' }, example }
}

function requestBody(example: string): object {
  return { required: true, content: jsonContent(model('GenericRequest'), [example]) }
}

/** The spec allows a response without an item (§2.3), but ours always has one. */
function itemResponse(
  description: string,
  status: models.ItemResponse['status'],
  headers: readonly DocumentedHeader[],
) {
  const example = { created: 'createdItem', success: 'item', updated: 'replacedItem' }[status]
  const own = {
    type: 'object',
    required: ['data'],
    properties: { status: { type: 'string', const: status }, data: model('Item') },
  }
  return jsonResponse(description, { allOf: [model('ItemResponse'), own] }, [example], headers)
}

function schemas(): object {
  const own = models as unknown as Record<string, GenericSchema> // the types hide that these are Valibot's schemas
  return toJsonSchemaDefs(own, {
    target: 'draft-2020-12',
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    typeMode: 'output', // the last schema of each pipe names the members
    // Without this, generated clients would reject additional members.
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      valibotSchema.type === 'loose_object'
        ? { ...jsonSchema, additionalProperties: true }
        : undefined,
  })
}
