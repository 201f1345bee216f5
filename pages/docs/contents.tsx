/** The table of contents: a column on a wide screen, a menu at the top of a narrow screen. @module */

import { useEffect, useState } from 'preact/hooks'
import { Button } from '../shared/components.js'
import { modelId, modelsOf, type OpenApiDocument, type Operation } from './openapi.js'
import { Method } from './operation.js'

interface ContentsProps {
  readonly document: OpenApiDocument
  readonly operations: readonly Operation[]
}

interface Entry {
  readonly id: string
  readonly title: string
  readonly method?: string
  /** Texts in which the filter searches, such as error codes. By default, it searches in the title. */
  readonly texts?: string
}

export function Contents({ document, operations }: ContentsProps) {
  const { used, unused } = modelsOf(document)
  const models = [...used, ...unused].map(([title]) => ({ id: modelId(title), title }))
  const parts: readonly Entry[] = [
    { id: 'introduction', title: 'Introduction' },
    { id: 'authentication', title: 'Authentication' },
    ...operations.map(({ operationId: id, summary: title, method, path, responses }) => {
      const codes = JSON.stringify(responses).match(/[A-Z_]{5,}/g)
      return { id, title, method, texts: `${title} ${path} ${codes}` }
    }),
    { id: 'models', title: 'Models' },
  ]
  const current = useCurrent(parts.map(({ id }) => id))
  const [isOpen, setOpen] = useState(false)
  const [filter, setFilter] = useState('')
  const entry = ({ id, title, method, texts = title }: Entry) => (
    <li key={id} hidden={!texts.toLowerCase().includes(filter.toLowerCase())}>
      <a
        href={`#${id}`}
        aria-current={id === current ? 'location' : undefined}
        onClick={() => setOpen(false)}
      >
        {title}
        {method && <Method name={method} />}
      </a>
    </li>
  )
  return (
    <nav
      class="contents"
      aria-label="Contents"
      onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}
    >
      <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="unseen">Contents: </span>
        {parts.find(({ id }) => id === current)?.title}
      </Button>
      <div class={isOpen ? 'open' : ''}>
        <input
          type="search"
          placeholder="Filter: name, path or code"
          aria-label="Filter"
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <ul>
          {parts.map(entry)}
          <li>
            <ul>{models.map(entry)}</ul>
          </li>
        </ul>
      </div>
    </nav>
  )
}

/** Returns the id of the section that is at 20% of the window's height. @param ids of all sections, top to bottom. */
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
