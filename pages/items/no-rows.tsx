/** The message for an empty list: why there are no rows, and what to do. @module */

import type { ComponentChildren } from 'preact'
import { paths, prefix } from '../../src/interface/names.js'
import { Button, CopyButton } from '../shared/components.js'
import { everything, type Filter, isComplete } from './filter.js'
import { shownName } from './item.js'
import type { Page } from './use-page.js'

export function NoRows(page: Page) {
  const { token, lacksToken, listedAt, items, filter } = page
  if (lacksToken) {
    return (
      <Reason
        title="No token"
        text="The service shows items only with a token."
        action="Enter a token"
        onAction={() => page.setAsking({})}
      />
    )
  }
  if (listedAt === undefined) return null
  if (items.length > 0 || filter.project) {
    return (
      <Reason
        title="No matches"
        text={`No item ${wordsFor(filter)}.`}
        action="Show all items"
        onAction={() => page.setFilter(everything)}
      />
    )
  }
  return (
    <Reason
      title="No items yet"
      text="Add the first one here, or from a terminal:"
      code={curlFor('$TOKEN')}
      action="New item"
      onAction={page.addNew}
    >
      <Button onClick={() => page.setDialog('import')}>Import</Button>
      <CopyButton what="command with token" text={curlFor(token)} />
    </Reason>
  )
}

interface ReasonProps {
  readonly title: string
  readonly text: string
  readonly code?: string
  readonly action: string
  readonly onAction: () => void
  readonly children?: ComponentChildren
}

function Reason({ title, text, code, action, onAction, children }: ReasonProps) {
  return (
    <section class="no-rows" aria-label={title}>
      <h2>{title}</h2>
      <p>{text}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll */}
      {code && <pre tabIndex={0}>{code}</pre>}
      <div class="line">
        <Button class="main" onClick={onAction}>
          {action}
        </Button>
        {children}
      </div>
    </section>
  )
}

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

/** Puts the token into a curl command without quotes, because it has no characters that are special in a shell. */
function curlFor(token: string): string {
  return [
    `curl ${location.origin}${prefix}${paths.items}`,
    `-H "Authorization: Bearer ${token}"`,
    `-H 'Content-Type: application/json'`,
    `--data-raw '{"data":{"title":"First item"}}'`,
  ].join(' \\\n  ')
}
