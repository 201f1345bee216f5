/** The JSON editor and, below it, a list of problems in its text. @module */

import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../shared/components.js'
import { checkDraft, type Finding, firstValue, lineAndColumn } from '../model/draft.js'
import { panel } from '../state/panel.js'
import type { Session } from '../state/session.js'
import type { JsonEditor } from './json-editor.js'

const mostListed = 5 // problems in the list, errors first; the editor marks all

interface EditorPaneProps {
  readonly session: Session
  readonly editor: RefObject<JsonEditor | undefined>
}

export function EditorPane({ session, editor }: EditorPaneProps) {
  const { item, isCopy, source, state, shown, typed, focus } = session
  const host = useRef<HTMLDivElement>(null)
  const [listed, setListed] = useState<readonly (Finding & { readonly place: string })[]>([])
  const [problem, setProblem] = useState('')
  const latest = useRef(session)
  latest.current = session

  const list = (findings: readonly Finding[], text: string) => {
    const errors = findings.filter(({ severity }) => severity === 'error')
    const others = findings.filter(({ severity }) => severity !== 'error')
    const shown = [...errors, ...others].slice(0, mostListed)
    setListed(shown.map((each) => ({ ...each, place: lineAndColumn(text, each.from) })))
  }

  useEffect(() => {
    let isClosed = false
    let own: JsonEditor | undefined
    async function start(): Promise<void> {
      const { createJsonEditor } = await import('./json-editor.js')
      if (isClosed || !host.current) return
      own = createJsonEditor({
        host: host.current,
        text: latest.current.typed,
        check(text) {
          const findings = checkDraft(text, latest.current.item?.id)
          list(findings, text)
          return findings
        },
        onChange: () => own && panel.dispatch({ type: 'typed', text: own.text() }),
      })
      editor.current = own
      const first = item || isCopy ? undefined : firstValue(shown)
      if (first) own.goTo(first.from, first.to)
      // On a touch screen, focus would open the keyboard.
      else if (focus && !matchMedia('(hover: none)').matches) own.focus()
    }
    start().catch(() => setProblem('The editor cannot be loaded. Is the service running?'))
    return () => {
      isClosed = true
      editor.current = undefined
      own?.destroy()
    }
  }, [])

  useLayoutEffect(() => {
    if (editor.current && editor.current.text() !== typed) editor.current.reset(typed)
  }, [source, shown, state])

  useLayoutEffect(() => {
    if (focus) editor.current?.focus()
  }, [focus])

  return (
    <>
      <div ref={host} class="editor" translate={false} />
      {problem && <p role="alert">{problem}</p>}
      <div class="findings" role="status">
        {listed.map(({ from, place, message, severity }) => (
          <p key={`${from} ${message}`} class={severity}>
            {severity === 'error' ? 'Error' : 'Warning'} in{' '}
            <Button class="plain" onClick={() => editor.current?.goTo(from)}>
              {place}
            </Button>
            : {message}
          </p>
        ))}
      </div>
    </>
  )
}
