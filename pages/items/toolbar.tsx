/** Search, filter, and what can be done with all items. @module */

import type { RefObject } from 'preact'
import type { Filter } from './filter.js'
import { shownName } from './item.js'
import { mostUsed, type Overview } from './overview.js'
import type { View } from './table.js'

export interface ToolbarProps {
  readonly filter: Filter
  readonly overview: Overview
  /** Names of the columns besides `id`. */
  readonly names: readonly string[]
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

export function Toolbar(props: ToolbarProps) {
  const { filter, overview, names, view, isExporting, search, onFilter, onView } = props
  const { onNew, onImport, onExport, onColumns } = props
  return (
    <div class="line toolbar">
      <button type="button" class="main" onClick={onNew}>
        New item
      </button>
      <input
        ref={search}
        type="search"
        aria-label="Search in the JSON of the items"
        placeholder="Search"
        value={filter.query}
        onInput={(event) => onFilter({ ...filter, query: event.currentTarget.value })}
      />
      <ProjectFilter
        overview={overview}
        project={filter.project}
        onChange={(project) => onFilter({ ...filter, project })}
      />
      <button
        type="button"
        onClick={() => {
          const name = names.find((each) => each !== 'project_id') ?? 'id'
          const condition = { name, test: 'contains', value: '' } as const
          onFilter({ ...filter, conditions: [...filter.conditions, condition] })
        }}
      >
        Filter
      </button>
      <fieldset class="line views">
        <legend class="unseen">Show as</legend>
        {(['table', 'json'] as const).map((each) => (
          <label key={each}>
            <input type="radio" name="view" checked={view === each} onChange={() => onView(each)} />
            {each === 'table' ? 'Table' : 'JSON'}
          </label>
        ))}
      </fieldset>
      <div class="line others">
        <button type="button" disabled={view !== 'table'} onClick={onColumns}>
          Columns
        </button>
        <button type="button" onClick={onImport}>
          Import
        </button>
        <button type="button" aria-disabled={isExporting} onClick={onExport}>
          {isExporting ? 'Exporting…' : 'Export'}
        </button>
      </div>
    </div>
  )
}

interface ProjectFilterProps {
  readonly overview: Overview
  readonly project: Filter['project']
  readonly onChange: (project: Filter['project']) => void
}

/** The values of the options are JSON, so that no name can be confused with anything else. */
function ProjectFilter({ overview: { projects }, project, onChange }: ProjectFilterProps) {
  const listed = mostUsed(projects, projects.size)
  // The selected one stays even when its last item is gone.
  if (project !== undefined && !listed.includes(project)) listed.unshift(project)
  return (
    <select
      aria-label="Project"
      value={project === undefined ? '' : JSON.stringify(project)}
      onChange={({ currentTarget: { value } }) =>
        onChange(listed.find((name) => JSON.stringify(name) === value))
      }
    >
      <option value="">All projects</option>
      {listed.map((name) => (
        <option key={name} value={JSON.stringify(name)}>
          {name === null ? '(no project_id)' : shownName(name)}
        </option>
      ))}
    </select>
  )
}
