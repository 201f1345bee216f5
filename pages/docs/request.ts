/** Builds the request of an operation from the fields of its form. @module */

import type { Operation } from './openapi.js'

export interface Input {
  readonly parameters: Readonly<Record<string, string>>
  readonly body: string | undefined // `undefined` for an operation without one
}

export type FilledRequest = NonNullable<ReturnType<typeof requestFor>>

/** Returns `undefined` for a lone surrogate, or a path parameter `.` or `..`, which browsers drop. */
export function requestFor(
  { method, baseUrl, path, parameters, requestBody, needsToken }: Operation,
  { parameters: values, body }: Input,
  token: string,
) {
  if (/\p{Surrogate}/u.test([...Object.values(values), body].join())) return undefined
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? ''))
  const url = new URL(filled, baseUrl)
  if (url.pathname !== filled) return undefined
  const given = (where: string) =>
    parameters.flatMap(({ name, in: place }) =>
      place === where && values[name] ? [[name, values[name]]] : [],
    )
  url.search = new URLSearchParams(given('query')).toString()
  const [type] = Object.keys(requestBody?.content ?? {})
  const headers: Readonly<Record<string, string>> = {
    ...(needsToken && token !== '' ? { Authorization: `Bearer ${token}` } : {}),
    ...(type === undefined ? {} : { 'Content-Type': type }),
    ...Object.fromEntries(given('header')),
  }
  return { method, url: url.href, headers, body }
}
