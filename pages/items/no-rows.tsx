/** What is there instead of rows: why there are none, and what to do. @module */

import { paths, prefix } from '../../src/interface/names.js'
import { CopyButton } from '../shared/components.js'
import { type Filter, isComplete } from './filter.js'
import { shownName } from './item.js'

export interface NoRowsProps {
  readonly token: string
  /** Whether a token has to be entered first. */
  readonly lacksToken: boolean
  /** How many items there are; `undefined` before they have been listed. */
  readonly all: number | undefined
  readonly filter: Filter
  readonly onToken: () => void
  readonly onNew: () => void
  readonly onImport: () => void
  readonly onAll: () => void
}

export function NoRows(props: NoRowsProps) {
  const { token, lacksToken, all, filter, onToken, onNew, onImport, onAll } = props
  if (lacksToken) {
    return (
      <section class="no-rows" aria-label="No token">
        <p>The service shows its items to those who have a token.</p>
        <button type="button" class="main" onClick={onToken}>
          Enter a token
        </button>
      </section>
    )
  }
  if (all === undefined) return null
  if (all > 0 || filter.project) {
    return (
      <section class="no-rows" aria-label="No matches">
        <p>No item {wordsFor(filter)}.</p>
        <button type="button" class="main" onClick={onAll}>
          Show all items
        </button>
      </section>
    )
  }
  return (
    <section class="no-rows" aria-label="No items">
      <p>There are no items yet. Add the first one here, or from a terminal:</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
      <pre tabIndex={0}>{curlFor('$TOKEN')}</pre>
      <div class="line">
        <button type="button" class="main" onClick={onNew}>
          New item
        </button>
        <button type="button" onClick={onImport}>
          Import
        </button>
        <CopyButton what="command with token" text={curlFor(token)} />
      </div>
    </section>
  )
}

/** What a filter asks for, in words. */
function wordsFor({ query, project, conditions }: Filter): string {
  const parts = [
    query && `contains “${query}”`,
    project === null && 'is without a project_id',
    typeof project === 'string' && `is of the project ${shownName(project)}`,
    ...conditions.filter(isComplete).map(({ name, test, value }) => {
      if (test === 'is absent') return `is without ${shownName(name)}`
      return `has a ${shownName(name)} that ${test} “${value}”`
    }),
  ]
  return parts.filter(Boolean).join(' and ')
}

/** The command that creates an item. A token has no character that a shell would take for another. */
function curlFor(token: string): string {
  return [
    `curl ${location.origin}${prefix}${paths.items}`,
    `-H "Authorization: Bearer ${token}"`,
    `-H 'Content-Type: application/json'`,
    `--data-raw '{"data":{"title":"First item"}}'`,
  ].join(' \\\n  ')
}
