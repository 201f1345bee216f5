/** Filters by members: each condition is a line below the toolbar. @module */

import { useEffect, useRef } from 'preact/hooks'
import type { Condition } from './filter.js'
import { shownName } from './item.js'

const tests = ['contains', 'equals', 'is absent'] as const

export interface ConditionsProps {
  readonly conditions: readonly Condition[]
  /** Names of the members to choose from, besides `id`. */
  readonly names: readonly string[]
  readonly onChange: (conditions: readonly Condition[]) => void
}

export function Conditions({ conditions, names, onChange }: ConditionsProps) {
  if (conditions.length === 0) return null
  return (
    <div class="conditions">
      {conditions.map((condition, at) => (
        <Line
          key={at}
          {...{ condition, at, names }}
          onChange={(part) => onChange(conditions.with(at, { ...condition, ...part }))}
          onRemove={() => onChange(conditions.toSpliced(at, 1))}
        />
      ))}
    </div>
  )
}

interface LineProps {
  readonly condition: Condition
  readonly at: number
  readonly names: readonly string[]
  readonly onChange: (part: Partial<Condition>) => void
  readonly onRemove: () => void
}

function Line({ condition: { name, test, value }, at, names, onChange, onRemove }: LineProps) {
  const first = useRef<HTMLSelectElement>(null)
  useEffect(() => first.current?.focus(), [])
  return (
    <fieldset>
      <legend class="unseen">Condition {at + 1}</legend>
      <select
        ref={first}
        aria-label="Member"
        value={name}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
      >
        {[...new Set(['id', ...names, name])].map((each) => (
          <option key={`.${each}`} value={each}>
            {shownName(each)}
          </option>
        ))}
      </select>
      <select
        aria-label="Test"
        value={test}
        onChange={({ currentTarget: { selectedIndex } }) =>
          onChange({ test: tests[selectedIndex] ?? test })
        }
      >
        {tests.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      {test !== 'is absent' && (
        <input
          type="search"
          aria-label="Value"
          placeholder={test === 'equals' ? 'text or JSON' : 'text'}
          value={value}
          onInput={({ currentTarget }) => onChange({ value: currentTarget.value })}
        />
      )}
      <button type="button" aria-label="Remove this condition" onClick={onRemove}>
        ✕
      </button>
    </fieldset>
  )
}
