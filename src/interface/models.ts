/**
 * The models of the interface (spec §2.1 to §2.7) for other programs: a type of each, and a schema that validates
 * unknown values. Neither names the library that validates.
 *
 * @module
 */

import * as schemas from './schemas.js'

/** A schema of the form that libraries share (standardschema.dev), so that each of them can use it. */
export interface Schema<T> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    /** Returns the value with its defaults, or what is wrong with it. */
    readonly validate: (value: unknown) => Validation<T> | Promise<Validation<T>>
    readonly types?: { readonly input: unknown; readonly output: T } | undefined
  }
}

export type Validation<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] }

export interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Spec §2.1. Besides these two members, an item has every member of the request's `data`. */
export interface Item {
  id: string
  project_id: string | null
  [member: string]: unknown
}
export const Item: Schema<Item> = schemas.Item

/** The body of create and replace (spec §2.2). */
export interface GenericRequest {
  data: { [member: string]: unknown }
  project_id?: string | null | undefined
}
export const GenericRequest: Schema<GenericRequest> = schemas.GenericRequest

/** Spec §2.3. */
export interface ItemResponse {
  session_id: string
  status: 'created' | 'success' | 'updated'
  message: string
  data: Item | null
}
export const ItemResponse: Schema<ItemResponse> = schemas.ItemResponse

/** The response to `GET /items` (spec §4.2). */
export interface ItemListResponse {
  session_id: string
  status: 'success'
  message: string
  data: Item[]
}
export const ItemListResponse: Schema<ItemListResponse> = schemas.ItemListResponse

/** Spec §2.4. */
export interface HealthCheckResponse {
  session_id: string
  status: 'healthy' | 'unhealthy'
  service_name: string
  version: string
  services_summary: { total: number; healthy: number; unhealthy: number }
  unhealthy_subsystems?: string[] | undefined
  overload?: string | undefined
}
export const HealthCheckResponse: Schema<HealthCheckResponse> = schemas.HealthCheckResponse

/** Spec §2.5. */
export interface ErrorDetail {
  detail: string
  session_id?: string | undefined
  error_code?: string | undefined
}
export const ErrorDetail: Schema<ErrorDetail> = schemas.ErrorDetail

/** The body of every error (spec §7). */
export interface ErrorResponse {
  detail: ErrorDetail
}
export const ErrorResponse: Schema<ErrorResponse> = schemas.ErrorResponse

/** The claims of an access token (spec §2.6). */
export interface TokenPayload {
  sub: string
  exp: number
  iat?: number | undefined
  [claim: string]: unknown
}
export const TokenPayload: Schema<TokenPayload> = schemas.TokenPayload

/** Spec §2.7. No endpoint uses it. */
export interface FileUploadRequest {
  project_id: string
  filename?: string | undefined
}
export const FileUploadRequest: Schema<FileUploadRequest> = schemas.FileUploadRequest

/** Spec §2.7. No endpoint uses it. */
export interface FileUploadResponse {
  file_id: string | null
  file_size: number | null
  file_path: string | null
}
export const FileUploadResponse: Schema<FileUploadResponse> = schemas.FileUploadResponse
