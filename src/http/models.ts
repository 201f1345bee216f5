/**
 * The models of the interface (spec §2.1 to §2.7), as JSON Schema with their static types.
 *
 * Two of them live where they are checked, and are named here too so that all stand together.
 *
 * @module
 */

import { type Static, type TSchema, Type } from 'typebox'

export { TokenPayload } from '../auth/token.js'
export { GenericRequest } from '../item/item-request.js'

const uuid = (description: string) => Type.String({ format: 'uuid', description })
const optionalOrNull = <T extends TSchema>(type: T) =>
  Type.Optional(Type.Union([type, Type.Null()], { default: null }))
const sessionId = uuid('Id of this request, for tracing')

/** Spec §2.1. Beside these two members, an item has every member of the request's `data`. */
export const Item = Type.Object(
  {
    id: uuid('Made by the service, kept on replace'),
    project_id: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  },
  { title: 'Item', additionalProperties: true },
)
export type Item = Static<typeof Item>

/** Spec §2.3. */
export const ItemResponse = Type.Object(
  {
    session_id: sessionId,
    status: Type.Enum(['created', 'success', 'updated']),
    message: Type.String(),
    data: Type.Union([Item, Type.Null()], { default: null }),
  },
  { title: 'ItemResponse' },
)
export type ItemResponse = Static<typeof ItemResponse>

/** The answer to `GET /items` (spec §4.2): the envelope of §2.3 around all items. */
export const ItemListResponse = Type.Object(
  {
    session_id: sessionId,
    status: Type.Literal('success'),
    message: Type.String(),
    data: Type.Array(Item),
  },
  { title: 'ItemListResponse' },
)
export type ItemListResponse = Static<typeof ItemListResponse>

/** Spec §2.4. */
export const HealthCheckResponse = Type.Object(
  {
    session_id: sessionId,
    status: Type.Enum(['healthy', 'unhealthy']),
    service_name: Type.String(),
    version: Type.String({ description: 'Semantic version of the service' }),
    services_summary: Type.Object({
      total: Type.Integer({ minimum: 0 }),
      healthy: Type.Integer({ minimum: 0 }),
      unhealthy: Type.Integer({ minimum: 0 }),
    }),
  },
  { title: 'HealthCheckResponse' },
)
export type HealthCheckResponse = Static<typeof HealthCheckResponse>

/** Spec §2.5. */
export const ErrorDetail = Type.Object(
  {
    detail: Type.String({ description: 'What went wrong, for people' }),
    session_id: Type.Optional(sessionId),
    error_code: Type.Optional(Type.String({ description: 'What went wrong, for programs' })),
  },
  { title: 'ErrorDetail' },
)
export type ErrorDetail = Static<typeof ErrorDetail>

/** The body of every error (spec §7). */
export const ErrorResponse = Type.Object({ detail: ErrorDetail }, { title: 'ErrorResponse' })
export type ErrorResponse = Static<typeof ErrorResponse>

/** Spec §2.7. No endpoint uses it. */
export const FileUploadRequest = Type.Object(
  { project_id: Type.String({ minLength: 1 }), filename: Type.Optional(Type.String()) },
  { title: 'FileUploadRequest' },
)
export type FileUploadRequest = Static<typeof FileUploadRequest>

/** Spec §2.7. No endpoint uses it. */
export const FileUploadResponse = Type.Object(
  {
    file_id: optionalOrNull(Type.String()),
    file_size: optionalOrNull(Type.Integer({ description: 'In bytes' })),
    file_path: optionalOrNull(Type.String()),
  },
  { title: 'FileUploadResponse' },
)
export type FileUploadResponse = Static<typeof FileUploadResponse>
