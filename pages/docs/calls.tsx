/** An operation's code sample or request form, with example responses or the received response below. @module */

import { useEffect, useState } from 'preact/hooks'
import { Button, Choice, CopyButton } from '../shared/components.js'
import { Code } from './code.js'
import { nameIn, type OpenApiDocument, type Operation, shownValue } from './openapi.js'
import { ReceivedResponse } from './received-response.js'
import { requestFor } from './request.js'
import { Examples, type ResponsesProps } from './responses.js'
import { type Language, languages, samples } from './samples.js'
import type { Received } from './send.js'
import { TryIt } from './try-it.js'

export interface CallsProps extends ResponsesProps {
  readonly operation: Operation
  readonly operations: readonly Operation[]
  readonly parameters: Readonly<Record<string, string>>
  onParameters(changes: Record<string, string>): void
  readonly language: Language
  onLanguage(language: Language): void
}

export function Calls(props: CallsProps) {
  const { document, operation, parameters, onParameters, language, onLanguage } = props
  const [own, setOwn] = useState<Readonly<Record<string, string>>>({})
  const [body, setBody] = useState(() => exampleBody(operation, document))
  const [isTrying, setTrying] = useState(false)
  const [received, setReceived] = useState<Received>()
  // Choosing a status replaces the received response with its examples.
  useEffect(() => setReceived(undefined), [props.status])

  const input = { parameters: { ...parameters, ...own }, body }
  const request = requestFor(operation, input, '')
  const sample = request && samples[language]({ operation, input, request })

  return (
    <div class="calls">
      <div class="panel">
        <div class="line">
          {isTrying ? (
            <h3>Try it</h3>
          ) : (
            <Choice
              title={`Language of ${operation.summary}`}
              texts={languages}
              chosen={language}
              onChoose={onLanguage}
            />
          )}
          {!isTrying && sample && <CopyButton what="code" text={sample} />}
          {/* One button both shows and hides the form, so that the button never loses focus. */}
          <Button key="toggle" class={isTrying ? '' : 'main'} onClick={() => setTrying(!isTrying)}>
            {isTrying ? 'Show the code' : 'Try it'}
          </Button>
        </div>
        {isTrying ? (
          <TryIt
            {...props}
            input={input}
            onParameter={({ name, in: place }, value) =>
              place === 'path' ? onParameters({ [name]: value }) : setOwn({ ...own, [name]: value })
            }
            onBody={setBody}
            onReceived={setReceived}
          />
        ) : (
          sample && <Code title={`${operation.summary} in ${language}`} text={sample} />
        )}
      </div>
      {isTrying && received ? (
        <ReceivedResponse received={received} name={operation.operationId} />
      ) : (
        <Examples {...props} />
      )}
    </div>
  )
}

function exampleBody({ requestBody }: Operation, document: OpenApiDocument): string | undefined {
  if (requestBody === undefined) return undefined
  const [media] = Object.values(requestBody.content)
  const [example] = Object.values(media?.examples ?? {})
  return shownValue(document.components.examples[nameIn(example?.$ref ?? '')]?.value ?? {})
}
