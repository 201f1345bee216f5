/** Code samples for the request in a form. The samples read the token from the environment variable `TOKEN`. @module */

import type { Operation } from './openapi.js'
import type { FilledRequest, Input } from './request.js'

export interface Call {
  readonly operation: Operation
  readonly input: Input
  readonly request: FilledRequest
  readonly baseUrl: string
}

export const languages = ['curl', 'JavaScript', 'TypeScript', 'Python'] as const
export type Language = (typeof languages)[number]
export type Samples = Readonly<Partial<Record<Language, (call: Call) => string>>>

export const samples: Samples = { curl: inCurl }

export function loadSamples(): Promise<Samples> {
  return import('./later.js').then((loaded) => ({ ...samples, ...loaded.moreSamples }))
}

function inCurl({ operation, request: { method, url, headers, body } }: Call): string {
  const lines = [
    ...(method === 'GET' ? [`curl ${inShell(url)}`] : [`curl -X ${method}`, inShell(url)]),
    ...(operation.needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${inShell(`${name}: ${value}`)}`),
    // Line breaks in JSON text are always between tokens, so indentation changes no value.
    ...(body === undefined ? [] : [`--data-raw ${inShell(body.replaceAll('\n', '\n  '))}`]),
  ]
  return lines.join(' \\\n  ')
}

function inShell(text: string): string {
  return /^[\w :/=.,?&%~-]*$/.test(text) ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`
}
