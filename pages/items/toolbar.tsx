/** The toolbar: search, filter, and actions for all items. @module */

import { Button, Choice } from '../shared/components.js'
import { blank, isComplete } from './filter.js'
import {
  braces,
  columns,
  download,
  filter as funnel,
  Icon,
  search as magnifier,
  more,
  plus,
  table,
  upload,
} from './icons.js'
import { shownName } from './item.js'
import { mostUsed } from './overview.js'
import type { Page } from './use-page.js'

const closesMenu = { popovertarget: 'more', popovertargetaction: 'hide' } as const

export function Toolbar(page: Page) {
  const { filter, setFilter, projects, view, setView, open, isExporting, search } = page
  const listed = mostUsed(projects, projects.size)
  // The chosen project stays in the menu even if it no longer has any items.
  if (filter.project !== undefined && !listed.includes(filter.project))
    listed.unshift(filter.project)
  const count = filter.conditions.filter(isComplete).length
  return (
    <div class="line toolbar">
      <Button class="main" onClick={page.addNew}>
        <Icon path={plus} /> <span class="word">New item</span>
      </Button>
      <label class="search">
        <Icon path={magnifier} />
        <input
          ref={search}
          type="search"
          aria-label="Search in the JSON of the items"
          placeholder="Search"
          value={filter.query}
          onInput={(event) => setFilter({ ...filter, query: event.currentTarget.value })}
        />
      </label>
      {/* Option values are JSON, so that no project name can be mistaken for "All projects". */}
      <select
        aria-label="Project"
        translate={false}
        value={filter.project === undefined ? '' : JSON.stringify(filter.project)}
        onChange={({ currentTarget: { value } }) =>
          setFilter({ ...filter, project: listed.find((name) => JSON.stringify(name) === value) })
        }
      >
        <option value="">All projects</option>
        {listed.map((name) => (
          <option key={name} value={JSON.stringify(name)}>
            {name === null ? '(no project_id)' : shownName(name)}
          </option>
        ))}
      </select>
      <Choice
        title="Show as"
        texts={['table', 'json'] as const}
        chosen={view}
        onChoose={(each) => setView(each)}
        label={(each) => (
          <>
            <Icon path={each === 'table' ? table : braces} />
            <span class="word">{each === 'table' ? 'Table' : 'JSON'}</span>
          </>
        )}
      />
      <Button
        class="quiet"
        onClick={() => {
          const first = document.querySelector<HTMLElement>('.conditions select')
          if (first) first.focus()
          else setFilter({ ...filter, conditions: [blank] })
        }}
      >
        <Icon path={funnel} /> <span class="word">Filter</span>
        {count > 0 && <b> {count}</b>}
      </Button>
      <Button class="quiet" disabled={view !== 'table'} onClick={() => open({ kind: 'columns' })}>
        <Icon path={columns} /> <span class="word">Columns</span>
      </Button>
      <Button class="quiet" popovertarget="more">
        <Icon path={more} /> <span class="unseen">More</span>
      </Button>
      <div
        id="more"
        popover="auto"
        class="menu"
        onToggle={({ newState }) =>
          newState === 'open' ? open({ kind: 'menu' }) : page.close('menu')
        }
      >
        <Button class="quiet" {...closesMenu} onClick={() => open({ kind: 'import' })}>
          <Icon path={upload} /> Import
        </Button>
        <Button class="quiet" aria-disabled={isExporting} {...closesMenu} onClick={page.exportAll}>
          <Icon path={download} /> {isExporting ? 'Exporting…' : 'Export'}
        </Button>
      </div>
    </div>
  )
}
