/** The toolbar: search, filter, and actions for all items. @module */

import { useRef, useState } from 'preact/hooks'
import { Button, Choice } from '../../shared/components.js'
import { download } from '../../shared/download.js'
import { blank, isComplete } from '../model/filter.js'
import { shownName } from '../model/item.js'
import { mostUsed } from '../model/overview.js'
import { exportItems } from '../service/files.js'
import { list, messageFor } from '../service/requests.js'
import { useList } from '../state/list.js'
import { failure, open } from '../state/overlay.js'
import { addNew } from '../state/panel.js'
import { changeView, view } from '../state/view.js'
import { Icon } from '../ui/icons.js'
import { useKeys } from '../ui/keys.js'

const closesMenu = { popovertarget: 'more', popovertargetaction: 'hide' } as const

export function Toolbar() {
  const { query, project, conditions, isJson } = view.use()
  const { projects } = useList()
  const search = useRef<HTMLInputElement>(null)
  const [isExporting, setExporting] = useState(false)
  useKeys((key, event) => {
    if (key !== '/') return
    event.preventDefault()
    search.current?.focus()
  })
  const listed = mostUsed(projects, projects.size)
  // The chosen project stays in the menu, even if its last item is gone.
  if (project !== undefined && !listed.includes(project)) listed.unshift(project)
  const count = conditions.filter(isComplete).length

  async function exportAll(): Promise<void> {
    if (isExporting) return
    setExporting(true)
    failure.set('')
    try {
      const texts = list(undefined, new AbortController().signal, () => undefined)
      download(await exportItems(texts), 'items.json')
    } catch (error) {
      failure.set(`Not exported. ${messageFor(error)}`)
    }
    setExporting(false)
  }

  return (
    <div class="line toolbar">
      <Button class="main" onClick={addNew}>
        <Icon name="plus" /> <span class="word">New item</span>
      </Button>
      <label class="search">
        <Icon name="search" />
        <input
          ref={search}
          type="search"
          aria-label="Search in the JSON of the items"
          placeholder="Search"
          value={query}
          onInput={({ currentTarget }) => changeView({ query: currentTarget.value })}
        />
      </label>
      {/* Option values are JSON, so that no project name can be mistaken for "All projects". */}
      <select
        aria-label="Project"
        translate={false}
        value={project === undefined ? '' : JSON.stringify(project)}
        onChange={({ currentTarget: { value } }) =>
          changeView({ project: listed.find((name) => JSON.stringify(name) === value) })
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
        texts={['Table', 'JSON'] as const}
        chosen={isJson ? 'JSON' : 'Table'}
        onChoose={(each) => changeView({ isJson: each === 'JSON' })}
        label={(each) => (
          <>
            <Icon name={each === 'JSON' ? 'braces' : 'table'} /> <span class="word">{each}</span>
          </>
        )}
      />
      <Button
        class="quiet"
        onClick={() => {
          const first = document.querySelector<HTMLElement>('.conditions select')
          if (first) first.focus()
          else changeView({ conditions: [blank] })
        }}
      >
        <Icon name="filter" /> <span class="word">Filter</span>
        {count > 0 && <b> {count}</b>}
      </Button>
      <Button class="quiet" disabled={isJson} onClick={() => open({ kind: 'columns' })}>
        <Icon name="columns" /> <span class="word">Columns</span>
      </Button>
      <Button class="quiet" popovertarget="more">
        <Icon name="more" /> <span class="unseen">More</span>
      </Button>
      <div id="more" popover="auto" class="menu">
        <Button class="quiet" {...closesMenu} onClick={() => open({ kind: 'import' })}>
          <Icon name="upload" /> Import
        </Button>
        <Button class="quiet" aria-disabled={isExporting} {...closesMenu} onClick={exportAll}>
          <Icon name="download" /> {isExporting ? 'Exporting…' : 'Export'}
        </Button>
      </div>
    </div>
  )
}
