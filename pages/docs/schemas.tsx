/** Lists the models (schemas) with their members, and describes types in words, with links to models. @module */

import type { ComponentChildren } from 'preact'
import { type Content, nameIn, type OpenApiDocument, type Schema } from './openapi.js'
import { Part } from './part.js'
import { Prose } from './prose.js'

export function Schemas({ document }: { document: OpenApiDocument }) {
  return (
    <Part id="models" title="Models">
      <div class="models">
        {Object.entries(document.components.schemas).map(([name, schema]) => (
          <details key={name}>
            <summary>
              <h3>
                <code>{name}</code>
              </h3>
              <span class="note">{Object.keys(schema.properties ?? {}).join(', ')}</span>
            </summary>
            <i class="anchor" id={`model-${name}`} />
            <Members schema={schema} />
          </details>
        ))}
      </div>
    </Part>
  )
}

export function Body({ content, document }: { content: Content; document: OpenApiDocument }) {
  return Object.entries(content).map(([type, { schema }]) => (
    <div key={type}>
      <h3>
        Body
        <span class="note">
          <Type schema={schema} /> · {type}
        </span>
      </h3>
      <Members schema={document.components.schemas[nameIn(modelIn(schema).$ref ?? '')] ?? schema} />
    </div>
  ))
}

function Members({ schema }: { schema: Schema }) {
  const members = Object.entries(schema.properties ?? {})
  if (members.length === 0) {
    return (
      <p>
        <Type schema={schema} />
      </p>
    )
  }
  return (
    <>
      <dl class="members">
        {members.map(([name, member]) => (
          <Term key={name} name={name} schema={member} required={schema.required?.includes(name)}>
            {member.description && <Prose text={member.description} />}
            {Object.keys(member.properties ?? {}).length > 0 && <Members schema={member} />}
          </Term>
        ))}
      </dl>
      {schema.additionalProperties === true && (
        <p class="note">There may be other members, of any type.</p>
      )}
    </>
  )
}

interface TermProps {
  readonly name: string
  readonly schema?: Schema
  readonly required?: boolean | undefined
  readonly note?: string
  readonly children: ComponentChildren
}

export function Term({ name, schema, required, note, children }: TermProps) {
  return (
    <div>
      <dt>
        <code>{name}</code>{' '}
        <span class="note">
          {schema && <Type schema={schema} />}
          {note}
        </span>{' '}
        {required && <span class="tag caution">required</span>}
      </dt>
      <dd>{children}</dd>
    </div>
  )
}

export function Type({ schema }: { schema: Schema }) {
  const { $ref, anyOf, items } = modelIn(schema)
  if ($ref !== undefined) {
    const name = nameIn($ref)
    return (
      <a href={`#model-${name}`}>
        <code>{name}</code>
      </a>
    )
  }
  if (items !== undefined) {
    return (
      <>
        array of <Type schema={items} />
      </>
    )
  }
  if (anyOf === undefined) return simpleType(schema)
  return anyOf.map((each, place) => [
    place > 0 && (each.type === 'null' ? ' · or ' : ' or '),
    <Type key={JSON.stringify(each)} schema={each} />,
  ])
}

/** Returns the first schema of an `allOf`; the others only restrict its values. */
function modelIn(schema: Schema): Schema {
  return schema.allOf?.[0] ?? schema
}

function simpleType(schema: Schema): string {
  const { type = 'any', format, minLength, minimum } = schema
  const values = schema.enum ?? ('const' in schema ? [schema.const] : [])
  if (values.length > 0) return values.map((value) => JSON.stringify(value)).join(' or ')
  const parts = [
    type,
    format,
    minLength && `at least ${minLength} character${minLength > 1 ? 's' : ''}`,
    minimum !== undefined && `at least ${minimum}`,
    'default' in schema && `${JSON.stringify(schema.default)} by default`,
  ]
  return parts.filter(Boolean).join(' · ')
}
