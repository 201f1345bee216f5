/** The table of contents: a column on a wide screen, a menu in the bar at the top of a narrow screen. @module */

import type { ComponentChild } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../shared/components.js'
import { keyOf } from '../shared/keys.js'
import type { separateErrors } from './common-errors.js'
import { modelsOf, type OpenApiDocument, type ResponseGroup } from './openapi.js'
import { Method } from './operation.js'

/** Path of the items page, from a `link` element that the service adds only if it serves that page. */
const itemsPage = document.querySelector('link[rel=related]')?.getAttribute('href')

const firstHit = '#contents li:not(:has(ul)) > a'
/** Fields in which `/` is a character. */
const typing = 'textarea, input:not([type=radio])'

export function ItemsLink() {
  return itemsPage ? (
    <a class="items" href={itemsPage}>
      Items
    </a>
  ) : null
}

type ContentsProps = ReturnType<typeof separateErrors> & { readonly document: OpenApiDocument }

interface Entry {
  readonly id: string
  readonly title: string
  readonly method?: string
  /** Text that the contents filter searches instead of the title. */
  readonly text?: string
  readonly inner?: readonly Entry[]
}

export function Contents(props: ContentsProps) {
  const [parts] = useState(() => partsOf(props))
  const current = useCurrent(parts.map(({ id }) => id))
  const [filter, setFilter] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.matches(typing)
      if (keyOf(event) !== '/' || isTyping) return
      event.preventDefault() // otherwise, the browser would enter `/` into the field
      field.current?.focus()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  const list = (entries: readonly Entry[]): ComponentChild[] =>
    entries.flatMap(({ id, title, method, text = title, inner = [] }) => {
      // Entries for individual models stay hidden until the user filters the contents or scrolls to the models.
      const found = filter || (id === 'models' && id === current) ? list(inner) : []
      if (found.length === 0 && !text.toLowerCase().includes(filter.toLowerCase())) return []
      return [
        <li key={title}>
          <a
            href={`#${id}`}
            aria-current={id === current ? 'location' : undefined}
            onClick={({ currentTarget }) => {
              setFilter('')
              currentTarget.closest<HTMLElement>('[popover]')?.hidePopover()
            }}
          >
            {title}
            {method && <Method name={method} />}
          </a>
          {found.length > 0 && <ul>{found}</ul>}
        </li>,
      ]
    })
  const found = list(parts)
  return (
    <nav class="contents" aria-label="Contents">
      <Button popovertarget="contents">
        <span class="unseen">Contents: </span>
        {parts.find(({ id }) => id === current)?.title}
      </Button>
      <div id="contents" class="menu" popover="auto" onToggle={() => setFilter('')}>
        <input
          type="search"
          placeholder="Filter: name, path, code"
          aria-label="Filter"
          aria-keyshortcuts="/"
          ref={field}
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
          onKeyDown={(event) => {
            const key = keyOf(event)
            if (key === 'Enter') document.querySelector<HTMLElement>(firstHit)?.click()
            else if (key === 'Escape') setFilter('')
          }}
        />
        <ul>{found}</ul>
        <p class="note" role="status">
          {found.length === 0 && 'Nothing found.'}
        </p>
        {!filter && <ItemsLink />}
      </div>
    </nav>
  )
}

function partsOf({ document, operations, errors }: ContentsProps): readonly Entry[] {
  const models = modelsOf(document).map(({ name }) => ({ id: `model-${name}`, title: name }))
  return [
    { id: 'introduction', title: 'Introduction' },
    { id: 'authentication', title: 'Authentication' },
    ...operations.map((operation) => {
      const { operationId: id, summary: title, method } = operation
      const text = JSON.stringify({ ...operation, common: 0 })
      return { id, title, method, text, inner: rowsOf(operation) }
    }),
    { id: 'errors', title: 'Errors', inner: rowsOf(errors) },
    { id: 'models', title: 'Models', inner: models },
  ]
}

function rowsOf({ operationId, responses }: ResponseGroup): Entry[] {
  return Object.entries(responses).flatMap(([status, { description }]) =>
    description.split('\n\n').map((text) => ({
      id: `${operationId}-${status}`,
      title: `${status} ${text.split(':')[0]?.replaceAll('`', '')}`,
    })),
  )
}

/** Returns the id of the section that is at 20% of the window's height. */
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
