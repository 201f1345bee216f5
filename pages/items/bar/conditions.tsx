/** The filter conditions below the toolbar. @module */

import { Button } from '../../shared/components.js'
import { blank, type Condition, type Filter, tests } from '../model/filter.js'
import { shownName } from '../model/item.js'
import { useShape } from '../state/list.js'
import { changeView, view } from '../state/view.js'
import { Icon } from '../ui/icons.js'

const focus = (field: HTMLElement | null) => field?.focus()

export function Conditions() {
  const { names } = useShape()
  const { conditions } = view.use()
  const setConditions = (conditions: Filter['conditions']) => changeView({ conditions })
  if (conditions.length === 0) return null
  return (
    <div class="line conditions">
      {conditions.map((condition, at) => {
        const { name, test, value } = condition
        const change = (part: Partial<Condition>) =>
          setConditions(conditions.with(at, { ...condition, ...part }))
        const choices = [...new Set(['id', 'project_id', ...names, name ?? 'id'])]
        return (
          <fieldset key={at}>
            <legend class="unseen">Condition {at + 1}</legend>
            <select
              ref={name === undefined ? focus : null} // a new condition, not one from the address
              aria-label="Member"
              value={name === undefined ? -1 : choices.indexOf(name)}
              onChange={({ currentTarget: { value } }) => change({ name: choices[Number(value)] })}
            >
              {name === undefined && <option value={-1}>Member…</option>}
              {choices.map((each, at) => (
                <option key={`.${each}`} value={at}>
                  {shownName(each)}
                </option>
              ))}
            </select>
            <select
              aria-label="Test"
              value={test}
              onChange={({ currentTarget: { selectedIndex } }) =>
                change({ test: tests[selectedIndex] ?? test })
              }
            >
              {tests.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
            {test !== 'is absent' && (
              <input
                aria-label="Value"
                placeholder={test === 'contains' ? 'text' : 'text or JSON'}
                value={value}
                onInput={({ currentTarget }) => change({ value: currentTarget.value })}
              />
            )}
            <Button class="quiet" onClick={() => setConditions(conditions.toSpliced(at, 1))}>
              <Icon name="close" /> <span class="unseen">Remove this condition</span>
            </Button>
          </fieldset>
        )
      })}
      <Button class="quiet" onClick={() => setConditions([...conditions, blank])}>
        <Icon name="plus" /> Add condition
      </Button>
    </div>
  )
}
