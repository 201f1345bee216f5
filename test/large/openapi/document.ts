/** Reads the OpenAPI document of a service, and checks responses against the document. */

import assert from 'node:assert/strict'
import { type Answer, send } from '../../conformance/client.js'
import { record } from '../../conformance/expect.js'
import { requireTool } from '../../support/tools.js'

interface Referable {
  readonly $ref?: string
}

interface Header extends Referable {
  readonly required?: boolean
  readonly schema: { readonly type: string }
  readonly example: unknown
}

interface Example extends Referable {
  readonly value: unknown
}

interface Response {
  readonly headers: Readonly<Record<string, Header>>
  readonly content?: { readonly 'application/json': { readonly examples: Record<string, Example> } }
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
}

interface DocumentedOperation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean }
  readonly responses: Readonly<Record<string, Response>>
}

export interface Document {
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<
    Record<string, Record<string, DocumentedOperation> & Pick<DocumentedOperation, 'parameters'>>
  >
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: object }>>
    readonly headers: Readonly<Record<string, Header>>
    readonly examples: Readonly<Record<string, Example>>
  }
}

export interface Operation extends DocumentedOperation {
  readonly method: string
  readonly path: string // relative to the server URL, with the placeholder `{item_id}`
}

interface Ajv {
  addSchema(schema: object, key: string): void
  getSchema(reference: string): (((value: unknown) => boolean) & { errors?: unknown }) | undefined
}

const { Ajv2020 }: { Ajv2020: new (options: object) => Ajv } = requireTool('ajv/dist/2020.js')
const addFormats: (ajv: Ajv) => void = requireTool('ajv-formats')

/** Headers that any response may have. */
const general =
  /^(?:content-type|content-length|date|connection|keep-alive|access-control-(?:allow-origin|expose-headers))$/

export async function servedDocument(origin: URL): Promise<Document> {
  return JSON.parse((await send(origin, 'GET', '/openapi.json')).text)
}

export function operationsOf({ paths }: Document): Operation[] {
  return Object.entries(paths).flatMap(([path, { parameters: _, ...methods }]) =>
    Object.entries(methods).map(([method, operation]) => {
      return { ...operation, method: method.toUpperCase(), path }
    }),
  )
}

export function createChecker(document: Document) {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true })
  addFormats(ajv)
  ajv.addSchema(document, 'document')

  function resolved<T extends Referable>(value: T): T {
    if (value.$ref === undefined) return value
    let target: unknown = document
    for (const name of value.$ref.split('/').slice(1)) target = record(target)[name]
    return target as T
  }

  function assertValid(value: unknown, pointer: string): void {
    const validate = ajv.getSchema(`document#${pointer}`) ?? assert.fail(`no schema: ${pointer}`)
    assert.ok(validate(value), `${pointer}: ${JSON.stringify(validate.errors)}`)
  }

  function assertHeaders({ headers }: Answer, response: Response): void {
    const names = Object.keys(headers).filter((name) => !general.test(name))
    const documented = Object.keys(response.headers).map((name) => name.toLowerCase())
    assert.deepEqual(
      names.filter((name) => !documented.includes(name)),
      [],
    )
    for (const [name, header] of Object.entries(response.headers)) {
      const value = headers[name.toLowerCase()]
      const { required, schema } = resolved(header)
      if (value === undefined) assert.notEqual(required, true, `no ${name}`)
      else {
        const given = schema.type === 'integer' ? Number(value) : value
        assertValid(given, `${String(header.$ref).slice(1)}/schema`)
      }
    }
  }

  /** Returns an operation's documented statuses. Each error status is followed by the error code, or by `no code`. */
  function outcomesOf({ responses }: Operation): string[] {
    return Object.entries(responses).flatMap(([status, { content }]) => {
      if (content === undefined) return [status]
      const examples = Object.values(content['application/json'].examples)
      return examples.map((example) => outcomeOf(Number(status), resolved(example).value))
    })
  }

  /** Checks that a response is documented, and returns its status and code in the format of `outcomesOf`. */
  function assertDocumented({ path, method, responses }: Operation, answer: Answer): string {
    const { status, text } = answer
    const response = responses[status] ?? assert.fail(`${status} is not documented: ${text}`)
    assertHeaders(answer, response)
    if (response.content === undefined) {
      assert.equal(text, '')
      return String(status)
    }
    assert.equal(answer.headers['content-type'], 'application/json')
    const body = answer.json()
    const names = ['paths', path, method.toLowerCase(), 'responses', String(status), 'content']
    assertValid(body, pointerTo(...names, 'application/json', 'schema'))
    return outcomeOf(status, body)
  }

  return { assertDocumented, outcomesOf }
}

function outcomeOf(status: number, body: unknown): string {
  const { detail } = record(body)
  if (detail === undefined) return String(status)
  return `${status} ${record(detail).error_code ?? 'no code'}`
}

/** Returns a JSON Pointer as a URI fragment (RFC 6901 §6). */
function pointerTo(...names: string[]): string {
  const escaped = names.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1'))
  return escaped.map((name) => `/${encodeURIComponent(name)}`).join('')
}
