/** The toolbar: search, filter, and actions for all items. @module */

import type { RefObject } from 'preact'
import { Button, Choice } from '../shared/components.js'
import { blank, type Filter, isComplete } from './filter.js'
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
import { mostUsed, type Overview } from './overview.js'
import type { View } from './table.js'

export interface ToolbarProps {
  readonly filter: Filter
  readonly projects: Overview['projects']
  readonly view: View
  readonly isExporting: boolean
  readonly search: RefObject<HTMLInputElement | null>
  readonly onFilter: (filter: Filter) => void
  readonly onView: (view: View) => void
  readonly onNew: () => void
  readonly onImport: () => void
  readonly onExport: () => void
  readonly onColumns: () => void
}

const closesMenu = { popovertarget: 'more', popovertargetaction: 'hide' } as const

export function Toolbar(props: ToolbarProps) {
  const { filter, projects, view, isExporting, search, onFilter, onView } = props
  const { onNew, onImport, onExport, onColumns } = props
  const listed = mostUsed(projects, projects.size)
  // The chosen project stays in the menu even if it no longer has any items.
  if (filter.project !== undefined && !listed.includes(filter.project))
    listed.unshift(filter.project)
  const count = filter.conditions.filter(isComplete).length
  return (
    <div class="line toolbar">
      <Button class="main" onClick={onNew}>
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
          onInput={(event) => onFilter({ ...filter, query: event.currentTarget.value })}
        />
      </label>
      {/* The values of the options are JSON, so that no project can be mistaken for "All projects". */}
      <select
        aria-label="Project"
        value={filter.project === undefined ? '' : JSON.stringify(filter.project)}
        onChange={({ currentTarget: { value } }) =>
          onFilter({ ...filter, project: listed.find((name) => JSON.stringify(name) === value) })
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
        onChoose={onView}
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
          else onFilter({ ...filter, conditions: [blank] })
        }}
      >
        <Icon path={funnel} /> <span class="word">Filter</span>
        {count > 0 && <b> {count}</b>}
      </Button>
      <Button class="quiet" disabled={view !== 'table'} onClick={onColumns}>
        <Icon path={columns} /> <span class="word">Columns</span>
      </Button>
      <Button class="quiet" popovertarget="more">
        <Icon path={more} /> <span class="unseen">More</span>
      </Button>
      <div id="more" popover="auto" class="menu">
        <Button class="quiet" {...closesMenu} onClick={onImport}>
          <Icon path={upload} /> Import
        </Button>
        <Button class="quiet" aria-disabled={isExporting} {...closesMenu} onClick={onExport}>
          <Icon path={download} /> {isExporting ? 'Exporting…' : 'Export'}
        </Button>
      </div>
    </div>
  )
}
