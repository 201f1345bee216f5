/** The table of contents: a column on a wide screen, a menu in the bar at the top of a narrow screen. @module */

import { useEffect, useState } from 'preact/hooks'
import { pagePaths } from '../../src/interface/names.js'
import { Button } from '../shared/components.js'
import { modelId, modelsOf, type OpenApiDocument, type Operation } from './openapi.js'
import { Method } from './operation.js'

/** The service adds a link to the items page only if it serves that page. */
const hasItemsPage = window.document.querySelector('link[rel=related]') !== null

export function ItemsLink() {
  return hasItemsPage ? (
    <a class="items" href={pagePaths.items}>
      Items
    </a>
  ) : null
}

interface ContentsProps {
  readonly document: OpenApiDocument
  readonly operations: readonly Operation[]
}

interface Entry {
  readonly id: string
  readonly title: string
  readonly method?: string
  readonly text?: string
}

export function Contents({ document, operations }: ContentsProps) {
  const { used, unused } = modelsOf(document)
  const parts: readonly Entry[] = [
    { id: 'introduction', title: 'Introduction' },
    { id: 'authentication', title: 'Authentication' },
    ...operations.map((operation) => {
      const { operationId: id, summary: title, method } = operation
      return { id, title, method, text: JSON.stringify(operation) }
    }),
    { id: 'models', title: 'Models' },
  ]
  const models = [...used, ...unused].map(([title]) => ({ id: modelId(title), title }))
  const current = useCurrent(parts.map(({ id }) => id))
  const [filter, setFilter] = useState('')
  const matching = (entries: readonly Entry[]) =>
    entries.filter(({ title, text = title }) => text.toLowerCase().includes(filter.toLowerCase()))
  const found = matching(parts)
  // Most entries in the table of contents are models. They stay folded until the user filters or scrolls to them.
  const foundModels = filter || current === 'models' ? matching(models) : []
  const entry = ({ id, title, method }: Entry) => (
    <li key={id}>
      <a
        href={`#${id}`}
        aria-current={id === current ? 'location' : undefined}
        onClick={({ currentTarget }) =>
          currentTarget.closest<HTMLElement>('[popover]')?.hidePopover()
        }
      >
        {title}
        {method && <Method name={method} />}
      </a>
    </li>
  )
  return (
    <nav class="contents" aria-label="Contents">
      <Button popovertarget="contents">
        <span class="unseen">Contents: </span>
        {parts.find(({ id }) => id === current)?.title}
      </Button>
      <div id="contents" class="menu" popover="auto">
        <input
          type="search"
          placeholder="Filter: name, path, code"
          aria-label="Filter"
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <ul>
          {found.map(entry)}
          {foundModels.length > 0 && (
            <li>
              <ul>{foundModels.map(entry)}</ul>
            </li>
          )}
        </ul>
        <ItemsLink />
        <p class="note" role="status">
          {found.length + foundModels.length === 0 && 'Nothing found.'}
        </p>
      </div>
    </nav>
  )
}

/** Returns the id of the section at 20% of the window's height. */
function useCurrent(ids: readonly string[]): string | undefined {
  const [current, setCurrent] = useState(ids[0])
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        const entry = entries.find(({ isIntersecting }) => isIntersecting)
        if (entry !== undefined) setCurrent(entry.target.id)
      },
      { rootMargin: '-20% 0px -80%' },
    )
    for (const id of ids) observer.observe(document.getElementById(id) ?? document.body)
    return () => observer.disconnect()
  }, [])
  return current
}
