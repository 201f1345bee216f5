/** The import dialog, which creates items one by one, so that the list has the same order as the file. @module */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { newKey } from '../../../src/client/item-requests.js'
import { isOutcomeUnknown } from '../../../src/client/item-store-error.js'
import { Button } from '../../shared/components.js'
import { counted, formatted } from '../../shared/numbers.js'
import { createYield } from '../model/yield.js'
import { createItem } from '../service/changes.js'
import { type Entry, readEntries } from '../service/files.js'
import { messageFor } from '../service/requests.js'
import { collection } from '../state/list.js'
import { Dialog, Question, useWarning } from '../ui/dialog.js'

interface Progress {
  readonly next: number
  readonly skipped: readonly string[]
}

const start: Progress = { next: 0, skipped: [] }

export function Import({ onClose }: { onClose: () => void }) {
  const [reading, setReading] = useState('')
  const [entries, setEntries] = useState<readonly Entry[]>([])
  const [progress, setProgress] = useState(start)
  const key = useMemo(newKey, [entries]) // begins each item's `Idempotency-Key`
  const [isRunning, setRunning] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const [problem, setProblem] = useState('')
  const main = useRef<HTMLButtonElement>(null)
  const work = useRef(new AbortController()) // aborts reading a file, or importing its items
  useEffect(() => () => work.current.abort(), [])

  function begin(): AbortSignal {
    work.current.abort()
    work.current = new AbortController()
    setProblem('')
    setAsking(false)
    return work.current.signal
  }

  async function open(file: File | undefined): Promise<void> {
    const signal = begin()
    setEntries([])
    setProgress(start)
    setReading(file?.name ?? '')
    if (!file) return
    try {
      const bytes = new Uint8Array(await file.arrayBuffer())
      signal.throwIfAborted()
      const found = await readEntries(bytes, createYield(signal))
      setEntries(found)
      if (found.length === 0) setProblem(`${file.name} has no items.`)
    } catch (error) {
      if (signal.aborted) return
      setProblem(`${file.name}: ${messageFor(error)}`)
    }
    setReading('')
  }

  async function run({ next, skipped }: Progress): Promise<void> {
    const signal = begin()
    setProgress({ next, skipped })
    setRunning(true)
    main.current?.focus() // a "Skip" button disappears when it is pressed
    let at = next
    try {
      for (const { body } of entries.slice(next)) {
        if (signal.aborted) break
        await createItem(body, `${key}-${at}`)
        at += 1
        setProgress({ next: at, skipped })
      }
    } catch (error) {
      const doubt = isOutcomeUnknown(error)
        ? ' It may have been created; trying again makes no second item.'
        : ''
      const line = entries[at]?.line
      setProblem(`Item ${at + 1}, which begins on line ${line}: ${messageFor(error)}.${doubt}`)
    }
    setRunning(false)
    collection.refresh()
  }

  const { next, skipped } = progress
  const count = entries.length
  const isEnded = next === count
  const isDone = isEnded && count > 0 && !isRunning
  const imported = `${formatted(next - skipped.length)} of ${counted(count, 'item')}`
  const hasFailed = problem !== '' && count > 0
  const isPartial = next > 0 && !isEnded
  const isUnfinished = isRunning || isPartial
  useWarning(isUnfinished)
  const close = () => (isUnfinished ? setAsking(true) : onClose())
  return (
    <Dialog title="Import items" onClose={close}>
      <p>
        A JSON array of objects, or one object per line. Each becomes a new item; the service
        generates the ids.
      </p>
      <label class="field">
        File
        <input
          type="file"
          accept=".json,.jsonl,.ndjson,application/json"
          disabled={isRunning}
          onClick={({ currentTarget }) => {
            currentTarget.value = '' // otherwise, a corrected file of the same name would be no change
          }}
          onChange={(event) => open(event.currentTarget.files?.[0])}
        />
      </label>
      <p role="status">
        {reading && `Reading ${reading}…`}
        {count > 0 && next === 0 && !isRunning && `${counted(count, 'item')} to import.`}
        {next > 0 &&
          !isRunning &&
          `${imported} imported.${skipped.length > 0 ? ` Skipped: ${skipped.join(', ')}.` : ''}`}
      </p>
      {isRunning && (
        <p>
          <progress max={count} value={next} aria-label="Imported" /> {imported}
        </p>
      )}
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="line foot">
        {isRunning && (
          <Button
            onClick={() => {
              work.current.abort()
              main.current?.focus() // the pressed button disappears
            }}
          >
            Stop
          </Button>
        )}
        {!isDone && !isRunning && <Button onClick={close}>Close</Button>}
        {hasFailed && (
          <Button
            onClick={() => {
              const name = `item ${next + 1} (line ${entries[next]?.line})`
              run({ next: next + 1, skipped: [...skipped, name] })
            }}
          >
            Skip item {next + 1}
          </Button>
        )}
        {/* This button stops nothing, because a double click presses it twice. */}
        <button
          ref={main}
          type="button"
          class="main"
          aria-disabled={isRunning || (isEnded && !isDone)}
          onClick={({ detail }) => {
            if (isRunning || detail > 1) return
            if (isDone) close()
            else if (!isEnded) run(progress)
          }}
        >
          {isRunning && 'Importing…'}
          {!isRunning && hasFailed && `Try item ${next + 1} again`}
          {!isRunning && !hasFailed && (isDone ? 'Done' : isPartial ? 'Continue' : 'Import')}
        </button>
      </div>
      {isAsking && isUnfinished && (
        <Question
          title="End the import?"
          text={`${imported} imported so far. The others will not be.`}
          action="End"
          onStay={() => setAsking(false)}
          onLeave={onClose}
        />
      )}
    </Dialog>
  )
}
