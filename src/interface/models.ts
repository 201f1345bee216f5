/** The models of the interface (spec §2.1 to §2.7), with their static types. @module */

import * as v from 'valibot'

const uuid = (description: string) => v.pipe(v.string(), v.uuid(), v.description(description))
const sessionId = uuid('Id of this request, for tracing')
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
/** The default is what the field is when it is left out. */
const nullByDefault = <T extends v.GenericSchema>(schema: T) => v.optional(v.nullable(schema), null)

/** To Valibot's own objects an array is one too, where it has the members that must be there. */
const object = v.custom<object>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
)

const projectId = v.pipe(
  v.string('must be a string'),
  v.minLength(1, 'must have at least 1 character'),
)

/** Spec §2.1. Beside these two members, an item has every member of the request's `data`. */
export const Item = v.looseObject({
  id: uuid('Made by the service, kept on replace'),
  project_id: v.nullable(projectId),
})
export type Item = v.InferOutput<typeof Item>

/** What create and replace take (spec §2.2). Further members are ignored. */
export const GenericRequest = v.looseObject(
  {
    data: v.pipe(object, v.looseObject({}), v.description('The members of the item')),
    project_id: v.pipe(
      v.optional(v.nullable(projectId)),
      v.description('Copied into the item; null when omitted'),
    ),
  },
  "is missing; put the item's members in it", // of `data`, the one field that must be there
)
export type GenericRequest = v.InferOutput<typeof GenericRequest>

/** Spec §2.3. */
export const ItemResponse = v.object({
  session_id: sessionId,
  status: v.picklist(['created', 'success', 'updated']),
  message: v.string(),
  data: nullByDefault(Item),
})
export type ItemResponse = v.InferOutput<typeof ItemResponse>

/** The answer to `GET /items` (spec §4.2): the envelope of §2.3 around all items. */
export const ItemListResponse = v.object({
  session_id: sessionId,
  status: v.literal('success'),
  message: v.string(),
  data: v.array(Item),
})
export type ItemListResponse = v.InferOutput<typeof ItemListResponse>

/** Spec §2.4. */
export const HealthCheckResponse = v.object({
  session_id: sessionId,
  status: v.picklist(['healthy', 'unhealthy']),
  service_name: v.string(),
  version: v.pipe(v.string(), v.description('Semantic version of the service')),
  services_summary: v.object({ total: count, healthy: count, unhealthy: count }),
  overload: v.optional(
    v.pipe(
      v.string(),
      v.description(
        'Name of the limit that is passed, so that item requests are answered with 503',
      ),
    ),
  ),
})
export type HealthCheckResponse = v.InferOutput<typeof HealthCheckResponse>

/** Spec §2.5. */
export const ErrorDetail = v.object({
  detail: v.pipe(v.string(), v.description('What went wrong, for people')),
  session_id: v.optional(sessionId),
  error_code: v.optional(v.pipe(v.string(), v.description('What went wrong, for programs'))),
})
export type ErrorDetail = v.InferOutput<typeof ErrorDetail>

/** The body of every error (spec §7). */
export const ErrorResponse = v.object({ detail: ErrorDetail })
export type ErrorResponse = v.InferOutput<typeof ErrorResponse>

/** The claims of an access token (spec §2.6). Further claims are ignored. */
export const TokenPayload = v.looseObject({
  sub: v.pipe(v.string(), v.description('Who calls')),
  exp: v.pipe(
    v.number(),
    v.integer(),
    v.description('Unix time in seconds from which the token is expired'),
  ),
  iat: v.optional(v.pipe(v.number(), v.integer(), v.description('Unix time in seconds of issue'))),
})
export type TokenPayload = v.InferOutput<typeof TokenPayload>

/** Spec §2.7. No endpoint uses it. */
export const FileUploadRequest = v.object({
  project_id: projectId,
  filename: v.optional(v.string()),
})
export type FileUploadRequest = v.InferOutput<typeof FileUploadRequest>

/** Spec §2.7. No endpoint uses it. */
export const FileUploadResponse = v.pipe(
  object,
  v.object({
    file_id: nullByDefault(v.string()),
    file_size: nullByDefault(v.pipe(v.number(), v.integer(), v.description('In bytes'))),
    file_path: nullByDefault(v.string()),
  }),
)
export type FileUploadResponse = v.InferOutput<typeof FileUploadResponse>
