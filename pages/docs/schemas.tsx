/** The models with their members, and types in words with links. @module */

import { nameIn, type OpenApiDocument, type Schema, shownValue } from './openapi.js'
import { Prose, Term } from './prose.js'

export function Schemas({ document }: { document: OpenApiDocument }) {
  return (
    <section aria-labelledby="models">
      <h2 id="models">Models</h2>
      {Object.entries(document.components.schemas).map(([name, schema]) => (
        <section key={name} class="card" aria-labelledby={modelId(name)}>
          <h3 id={modelId(name)}>
            <code>{name}</code>
          </h3>
          <Members schema={schema} />
        </section>
      ))}
    </section>
  )
}

export function modelId(name: string): string {
  return `model-${name}`
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
          <Term key={name} name={name} note={schema.required?.includes(name) && 'required'}>
            <Type schema={member} />
            {member.description && <Prose text={member.description} />}
            {member.properties && <Members schema={member} />}
          </Term>
        ))}
      </dl>
      {schema.additionalProperties === true ? (
        <p>There may be other members, of any type.</p>
      ) : null}
    </>
  )
}

/** A type in words; models are links. */
export function Type({ schema }: { schema: Schema }) {
  const { $ref, anyOf, allOf, items } = schema
  if ($ref !== undefined) {
    const name = nameIn($ref)
    return (
      <a href={`#${modelId(name)}`}>
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
  if (anyOf !== undefined) return <Types schemas={anyOf} joint=" or " />
  if (allOf !== undefined) return <Types schemas={allOf} joint=" with " />
  return <span>{simpleType(schema)}</span>
}

interface TypesProps {
  readonly schemas: readonly Schema[]
  readonly joint: string
}

function Types({ schemas, joint }: TypesProps) {
  return (
    <>
      {schemas.flatMap((schema, place) => [
        place > 0 ? joint : null,
        <Type key={JSON.stringify(schema)} schema={schema} />,
      ])}
    </>
  )
}

function simpleType(schema: Schema): string {
  const { type = 'any', format, minLength, minimum, properties } = schema
  const values = schema.enum ?? ('const' in schema ? [schema.const] : [])
  if (values.length > 0) return values.map((value) => JSON.stringify(value)).join(' or ')
  const parts = [
    format === undefined ? type : `${type} (${format})`,
    ...(minLength === undefined ? [] : [`at least ${minLength} long`]),
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    // For an envelope, this is what sets it apart from the model that it is combined with.
    ...Object.entries(type === 'object' && properties ? properties : {}).flatMap(
      ([name, member]) => ('const' in member ? [`${name} ${shownValue(member.const)}`] : []),
    ),
    ...('default' in schema ? [`${JSON.stringify(schema.default)} by default`] : []),
  ]
  return parts.join(', ')
}
