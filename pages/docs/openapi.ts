/** The parts of an OpenAPI 3.1 document that the page shows. @module */

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly minLength?: number
  readonly minimum?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

interface Reference {
  readonly $ref: string
}

interface Media {
  readonly schema: Schema
  readonly examples?: Readonly<Record<string, Reference>>
}

export type Content = Readonly<Record<string, Media>>

export interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, Reference>>
  readonly content?: Content
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
  readonly example?: unknown
}

interface OperationObject {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly Parameter[]
  readonly security?: readonly object[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}

type PathItem = Readonly<Partial<Record<Method, OperationObject>>> & {
  readonly parameters?: readonly Parameter[]
}

const methods = ['post', 'get', 'put', 'delete'] as const // in the order of the page: the others need an item
type Method = (typeof methods)[number]

export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly security?: readonly object[]
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly headers: Readonly<Record<string, { description: string; example?: unknown }>>
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>
    readonly securitySchemes: { readonly bearer: { readonly description: string } }
  }
}

/** Responses shown together, as a list and a panel of examples. */
export interface ResponseGroup
  extends Pick<OperationObject, 'operationId' | 'summary' | 'responses'> {
  readonly common?: readonly string[] // statuses described in the section on common errors
}

export interface Operation extends OperationObject, ResponseGroup {
  readonly method: string
  readonly baseUrl: string
  readonly path: string // with that of `baseUrl`
  readonly parameters: readonly Parameter[]
  readonly needsToken: boolean
}

/** Returns the operations by tag, then by method, then from the longest path to the shortest. */
export function operationsOf(document: OpenApiDocument, baseUrl: string): Operation[] {
  const base = new URL(baseUrl).pathname
  const paths = Object.entries(document.paths).sort(([one], [other]) => other.length - one.length)
  return document.tags.flatMap(({ name }) =>
    methods.flatMap((method) =>
      paths.flatMap(([path, item]) => {
        const operation = item[method]
        if (operation?.tags[0] !== name) return []
        const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])]
        const needsToken = (operation.security ?? document.security ?? []).length > 0
        const place = { method: method.toUpperCase(), baseUrl, path: base + path }
        return [{ ...operation, ...place, parameters, needsToken }]
      }),
    ),
  )
}

export function byPlace(parameters: readonly Parameter[]) {
  const isInHead = ({ in: place }: Parameter) => place === 'header'
  return {
    inHead: parameters.filter(isInHead),
    others: parameters.filter((parameter) => !isInHead(parameter)),
  }
}

export function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

export function shownValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
