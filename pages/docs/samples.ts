/** Code samples for the request in a form. The samples read the token from the environment variable `TOKEN`. @module */

import type { Operation } from './openapi.js'
import type { FilledRequest, Input } from './request.js'

export interface Call {
  readonly operation: Operation
  readonly input: Input
  readonly request: FilledRequest
}

export const languages = ['curl', 'JavaScript', 'TypeScript', 'Python'] as const
export type Language = (typeof languages)[number]

export const samples: Readonly<Record<Language, (call: Call) => string>> = {
  curl: inCurl,
  JavaScript: inJavaScript,
  TypeScript: inClient,
  Python: inPython,
}

export function quickStart(baseUrl: string): string {
  return `TOKEN=$(item-store token --sub me)

curl "${baseUrl}/items" \\
  -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"data": {"title": "Buy milk"}}'

curl "${baseUrl}/items" \\
  -H "Authorization: Bearer $TOKEN"`
}

function inCurl({ operation, request: { method, url, headers, body } }: Call): string {
  const lines = [
    ...(method === 'GET' ? [`curl ${inShell(url)}`] : [`curl -X ${method}`, inShell(url)]),
    ...(operation.needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${inShell(`${name}: ${value}`)}`),
    // Line breaks in JSON text are between tokens, so indentation changes no value.
    ...(body === undefined ? [] : [`--data-raw ${inShell(body.replaceAll('\n', '\n  '))}`]),
  ]
  return lines.join(' \\\n  ')
}

function inShell(text: string): string {
  return /^[\w :/=.,?&%~-]*$/.test(text) ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`
}

function inJavaScript({ operation, request: { method, url, headers, body } }: Call): string {
  const fields = Object.entries(headers).map(([name, text]) => `${quoted(name)}: ${quoted(text)}`)
  if (operation.needsToken) fields.unshift(`Authorization: \`Bearer \${process.env.TOKEN}\``)
  const value = valueIn(body)
  const options = [
    ...(method === 'GET' ? [] : [`method: "${method}"`]),
    ...(fields.length === 0 ? [] : [`headers: {${indented(fields)}}`]),
    ...(value === undefined ? [] : [`body: JSON.stringify(${laidOut(value)})`]),
    ...(value !== undefined || body === undefined ? [] : [`body: ${quoted(body)}`]),
  ]
  const more = options.length === 0 ? '' : `, {${indented(options)}}`
  return `const response = await fetch(${quoted(url)}${more});
console.log(response.status, await response.text());`
}

const clientMethods: Readonly<Record<string, string>> = {
  createItem: 'create',
  readItem: 'get',
  listItems: 'list',
  replaceItem: 'replace',
  deleteItem: 'delete',
  checkHealth: 'health',
}

const clientOptions: Readonly<Record<string, string>> = {
  project_id: 'projectId',
  'Idempotency-Key': 'idempotencyKey',
  'If-Match': 'ifMatch',
}

function inClient({ operation, input: { parameters, body } }: Call): string {
  const { project_id, data } = valueIn(body) ?? {}
  if (body !== undefined && (data === undefined || 'project_id' in data)) {
    return '// create() and replace() of the client cannot send this body as it is.'
  }
  const parts: string[] = []
  const options = project_id == null ? [] : [`projectId: ${laidOut(project_id)}`]
  const comments: string[] = []
  for (const { name, in: place } of operation.parameters) {
    const text = parameters[name]
    // The TypeScript client cannot set a header of a GET request.
    const isOffered = operation.method !== 'GET' || place !== 'header'
    const option = isOffered ? clientOptions[name] : undefined
    if (!text) continue
    if (place === 'path') parts.push(quoted(text))
    else if (option === undefined) comments.push(`// The client has no option for ${name}.`)
    else options.push(`${option}: ${quoted(text)}`)
  }
  if (data !== undefined) parts.push(laidOut(data))
  if (options.length > 0) parts.push(`{ ${options.join(', ')} }`)
  const lines = [
    'import { ItemStoreClient } from "item-store/client";\n',
    `const client = new ItemStoreClient({${indented([`baseUrl: ${quoted(operation.baseUrl)}`, 'token: process.env.TOKEN'])}});`,
    ...comments,
    `const result = await client.${clientMethods[operation.operationId]}(${parts.length < 2 ? parts : indented(parts)});`,
    'console.log(result);',
  ]
  return lines.join('\n')
}

function inPython({ operation, request: { method, url, headers, body } }: Call): string {
  const value = valueIn(body)
  const fields = Object.entries(headers)
    .filter(([name]) => value === undefined || name !== 'Content-Type') // the option `json=` sets this header
    .map(([name, text]) => `${quoted(name)}: ${quoted(text)}`)
  if (operation.needsToken) fields.unshift(`"Authorization": f"Bearer {os.environ['TOKEN']}"`)
  const parts = [
    quoted(url),
    ...(fields.length === 0 ? [] : [`headers={${indented(fields, 4)}}`]),
    ...(value === undefined ? [] : [`json=${asPython(laidOut(value, 4))}`]),
    ...(value !== undefined || body === undefined ? [] : [`data=${quoted(body)}.encode()`]),
  ]
  const { 200: ok, 201: created } = operation.responses
  const hasBody = (ok ?? created)?.content !== undefined && !('If-None-Match' in headers)
  const lines = [
    ...(operation.needsToken ? ['import os'] : []),
    ...(hasBody ? ['from decimal import Decimal'] : []),
    `import requests\n`,
    `response = requests.${method.toLowerCase()}(${indented(parts, 4)})`,
    hasBody
      ? 'print(response.json(parse_float=Decimal))  # with all digits'
      : 'print(response.status_code)',
  ]
  return lines.join('\n')
}

function indented(lines: readonly string[], width = 2): string {
  return `\n${lines.map((line) => `${line},`.replaceAll(/^/gm, ' '.repeat(width))).join('\n')}\n`
}

/** Returns a string literal: one of JSON is valid in JavaScript and in Python too. */
function quoted(text: string): string {
  return JSON.stringify(text)
}

function laidOut(value: unknown, width = 2): string {
  return JSON.stringify(value, null, width)
}

const literals: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

function asPython(json: string): string {
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|true|false|null/g, (token) => literals[token] ?? token)
}

/** Parses a body; `undefined` if JavaScript or Python code could not send exactly this JSON. */
function valueIn(body = ''): { project_id?: unknown; data?: object } | undefined {
  if (/"__proto__"|0\.0000|e[-+]/.test(body)) return undefined
  try {
    const value: unknown = JSON.parse(body)
    const text = body.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1')
    return value instanceof Object && JSON.stringify(value) === text ? value : undefined
  } catch {
    return undefined
  }
}
