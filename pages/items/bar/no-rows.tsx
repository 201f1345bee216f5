/** The message for an empty list: why there are no rows, and what to do. @module */

import { paths, prefix } from '../../../src/interface/paths.js'
import { urlOf } from '../../shared/address.js'
import { Button, CopyButton } from '../../shared/components.js'
import { token as tokenState } from '../../shared/session.js'
import { everything, type Filter, isComplete } from '../model/filter.js'
import { shownName } from '../model/item.js'
import { useList } from '../state/list.js'
import { open } from '../state/overlay.js'
import { addNew } from '../state/panel.js'
import { changeView, view } from '../state/view.js'

export function NoRows() {
  const token = tokenState.use()
  const reason = useReason(token)
  if (!reason) return null
  const { title, text, action, onAction, isFirst } = reason
  return (
    <section class="no-rows" aria-label={title}>
      <h2>{title}</h2>
      <p>{text}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll */}
      {isFirst && <pre tabIndex={0}>{curlFor('$TOKEN')}</pre>}
      <div class="line">
        {action && (
          <Button class="main" onClick={onAction}>
            {action}
          </Button>
        )}
        {isFirst && <Button onClick={() => open({ kind: 'import' })}>Import</Button>}
        {isFirst && <CopyButton what="command with token" text={curlFor(token)} />}
      </div>
    </section>
  )
}

function useReason(token: string) {
  const { listedAt, items, problem } = useList()
  const filter = view.use()
  if (!listedAt && token === '') {
    const text = 'The service shows items only with a token.'
    const onAction = () => open({ kind: 'token' })
    return { title: 'No token', text, action: 'Enter a token', onAction }
  }
  if (!listedAt)
    return problem ? { title: 'No list yet', text: 'The last line says why.' } : undefined
  if (items.length > 0 || filter.project) {
    const text = `No item ${wordsFor(filter)}.`
    const onAction = () => changeView(everything)
    return { title: 'No matches', text, action: 'Show all items', onAction }
  }
  const text = 'Add the first one here, or from a terminal:'
  return { title: 'No items yet', text, action: 'New item', onAction: addNew, isFirst: true }
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

/** Returns a curl command. No character of a token is special in a shell. */
function curlFor(token: string): string {
  return [
    `curl ${urlOf(prefix + paths.items)}`,
    `-H "Authorization: Bearer ${token}"`,
    `-H 'Content-Type: application/json'`,
    `--data-raw '{"data":{"title":"First item"}}'`,
  ].join(' \\\n  ')
}
