/** The JSON editor: CodeMirror in a shadow root, because the Content-Security-Policy forbids style elements. @module */

import { defaultKeymap, history, historyKeymap, isolateHistory } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language'
import { linter, lintKeymap } from '@codemirror/lint'
import { ChangeSet, EditorState } from '@codemirror/state'
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { Finding } from '../model/draft.js'
import { withSpaceOf } from './untouched-space.js'

export type JsonEditor = ReturnType<typeof createJsonEditor>

interface JsonEditorOptions {
  readonly host: HTMLElement
  readonly text: string
  readonly check: (text: string) => readonly Finding[]
  readonly onChange: () => void
}

const theme = EditorView.theme({
  '&': { flex: '1', minHeight: '0', fontSize: 'var(--size-field)', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' }, // the host element has its own outline
  '.cm-scroller': { fontFamily: 'var(--code-font)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)', padding: '0.5rem 0' },
  '.cm-gutters': {
    backgroundColor: 'var(--surface)',
    color: 'var(--muted)',
    borderRight: '1px solid var(--line)',
  },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'transparent',
    outline: '1px solid var(--field-line)',
  },
  // CodeMirror may mark valid brackets until it has parsed the whole text, and the page lists errors itself.
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'transparent' },
  '.cm-specialChar': { color: 'var(--bad)' },
  '.cm-lintRange': { backgroundImage: 'none', textUnderlineOffset: '3px' },
  '.cm-lintRange-error': { textDecoration: 'underline wavy var(--bad)' },
  '.cm-lintRange-warning': { textDecoration: 'underline dotted var(--caution)' },
  '.cm-tooltip, .cm-panels': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
  },
})

const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.number, color: 'var(--caution)' },
  { tag: [tags.bool, tags.null], color: 'var(--literal)' },
])

const otherBidi = /[\u202a-\u202c\u2068]/ // change the direction of text; CodeMirror does not mark them by default

/** Replaces selected text itself: Chromium would add style attributes, which the Content-Security-Policy forbids. */
function replaceSelection({ inputType, data }: InputEvent, view: EditorView): boolean {
  if (inputType !== 'insertText' || !data) return false
  // On a busy machine, the browser sends its own event only after the text, and CodeMirror would miss the selection.
  document.dispatchEvent(new Event('selectionchange'))
  if (view.state.selection.main.empty) return false
  view.dispatch(view.state.replaceSelection(data), {
    userEvent: 'input.type',
    scrollIntoView: true,
  })
  return true
}

export function createJsonEditor({ host, text, check, onChange }: JsonEditorOptions) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  let changes: ChangeSet | undefined // since the text was last replaced from outside
  const findingsOf = ({ state }: EditorView) => check(textOf(state)).map((each) => ({ ...each }))
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        // Otherwise, each CR LF in the text would be saved as LF.
        EditorState.lineSeparator.of('\n'),
        lineNumbers(),
        highlightSpecialChars({ addSpecialChars: otherBidi }),
        history(),
        indentOnInput(),
        bracketMatching(),
        json(),
        syntaxHighlighting(colors),
        linter(findingsOf, { delay: 150 }),
        EditorView.lineWrapping,
        // With a `tabindex`, axe-core knows that the keyboard can scroll the editor.
        EditorView.contentAttributes.of({ 'aria-label': 'JSON of the item', tabindex: '0' }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return
          changes = changes?.compose(update.changes) ?? update.changes
          onChange()
        }),
        keymap.of(
          defaultKeymap.filter(
            ({ key }) => !/^(?:Mod-Enter|Alt-Arrow(?:Up|Down))$/.test(key ?? ''),
          ),
        ),
        keymap.of([...historyKeymap, ...lintKeymap]),
        EditorView.domEventHandlers({ beforeinput: replaceSelection }),
        theme,
      ],
    }),
  })
  const replace = (text: string) => {
    const changes = { from: 0, to: view.state.doc.length, insert: text }
    // A step of its own in the history, so that undo keeps the text typed just before.
    view.dispatch({ changes, annotations: isolateHistory.of('full') })
  }
  return {
    text: () => textOf(view.state),
    /** @param source text of the item before it was indented. */
    textToSave(source: string) {
      const { doc } = view.state
      return withSpaceOf(source, doc, changes ?? ChangeSet.empty(doc.length))
    },
    /** Replaces the whole text. The user can undo that. */
    replace,
    /** Replaces the text, and regards the new one as not changed by the user. */
    reset(text: string) {
      replace(text)
      changes = undefined
    },
    goTo(offset: number, end = offset) {
      view.dispatch({ selection: { anchor: offset, head: end }, scrollIntoView: true })
      view.focus()
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  }
}

function textOf(state: EditorState): string {
  return state.doc.sliceString(0, state.doc.length, '\n')
}
