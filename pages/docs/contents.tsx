/** The table of contents: a column on a wide screen, a menu in the bar at the top of a narrow screen. @module */

import { useEffect, useState } from 'preact/hooks'
import { Button } from '../shared/components.js'
import type { Operation } from './openapi.js'
import { Method } from './operation.js'

/** Path of the items page. The service adds this `link` element only if it serves that page. */
const itemsPage = document.querySelector('link[rel=related]')?.getAttribute('href')

export function ItemsLink() {
  return itemsPage ? (
    <a class="items" href={itemsPage}>
      Items
    </a>
  ) : null
}

interface ContentsProps {
  readonly operations: readonly Operation[]
}

export function Contents({ operations }: ContentsProps) {
  const sections = [
    { id: 'introduction', title: 'Introduction' },
    { id: 'authentication', title: 'Authentication' },
    ...operations.map(({ operationId: id, summary: title, method }) => ({ id, title, method })),
    { id: 'errors', title: 'Errors' },
    { id: 'models', title: 'Models' },
  ]
  const current = useCurrent(sections.map(({ id }) => id))
  return (
    <nav class="contents" aria-label="Contents">
      <Button popovertarget="contents">
        <span class="unseen">Contents: </span>
        {sections.find(({ id }) => id === current)?.title}
      </Button>
      <div id="contents" class="menu" popover="auto">
        <ul>
          {sections.map(({ id, title, ...section }) => (
            <li key={id}>
              <a
                href={`#${id}`}
                aria-current={id === current ? 'location' : undefined}
                onClick={({ currentTarget }) =>
                  currentTarget.closest<HTMLElement>('[popover]')?.hidePopover()
                }
              >
                {title}
                {'method' in section && <Method name={section.method} />}
              </a>
            </li>
          ))}
        </ul>
        <ItemsLink />
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
