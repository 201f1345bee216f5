/** Creates the items of a file, one after the other, so that they are listed in its order. @module */

import { useEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from './dialog.js'
import { type Entry, readEntries } from './import-file.js'
import { useLeaving } from './leaving.js'
import { counted, formatted } from './numbers.js'
import { startPace } from './pace.js'
import { type ItemService, isUncertain, wordsFor } from './service.js'

export interface ImportProps {
  readonly service: ItemService
  /** Items were created. */
  readonly onImported: () => void
  /** A request failed. */
  readonly onProblem: (problem: unknown) => void
  readonly onClose: () => void
}

/** How far an import is. */
interface Progress {
  /** Index of the entry to create next. */
  readonly next: number
  /** Indexes of those that were passed over. */
  readonly leftOut: readonly number[]
}

const start: Progress = { next: 0, leftOut: [] }
/** Items left out that are named; the others are counted. */
const mostNamed = 10

export function Import({ service, onImported, onProblem, onClose }: ImportProps) {
  const [reading, setReading] = useState('')
  const [entries, setEntries] = useState<readonly Entry[]>([])
  const [progress, setProgress] = useState(start)
  const [isRunning, setRunning] = useState(false)
  /** What is wrong with the file. */
  const [fault, setFault] = useState('')
  /** Why the next entry was not created. */
  const [failure, setFailure] = useState('')
  const main = useRef<HTMLButtonElement>(null)
  /** Ends what is under way: there is one thing at a time. */
  const work = useRef(new AbortController())
  useEffect(() => () => work.current.abort(), [])

  function begin(): AbortSignal {
    work.current.abort()
    work.current = new AbortController()
    setFault('')
    setFailure('')
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
      setEntries(await readEntries(bytes, startPace(signal)))
    } catch (error) {
      if (signal.aborted) return
      setFault(`${file.name}: ${wordsFor(error)}`)
    }
    setReading('')
  }

  async function run({ next, leftOut }: Progress): Promise<void> {
    const signal = begin()
    setProgress({ next, leftOut })
    setRunning(true)
    main.current?.focus() // another button that was pressed goes away
    let at = next
    try {
      for (const { body } of entries.slice(next)) {
        if (signal.aborted) break
        await service.create(body)
        at += 1
        setProgress({ next: at, leftOut })
      }
    } catch (error) {
      const doubt = isUncertain(error) ? ' It may have been created all the same.' : ''
      const line = entries[at]?.line
      setFailure(`Item ${at + 1}, which begins in line ${line}: ${wordsFor(error)}.${doubt}`)
      onProblem(error)
    }
    setRunning(false)
    onImported()
  }

  const { next, leftOut } = progress
  const count = entries.length
  const isEnded = next === count
  const imported = `${formatted(next - leftOut.length)} of ${counted(count, 'item')}`
  const isPartial = next > 0 && !isEnded
  const [leave, question] = useLeaving(
    isRunning || isPartial
      ? {
          title: 'End the import?',
          text: `${imported} imported so far. The others will not be.`,
          action: 'End',
        }
      : undefined,
    onClose,
  )
  return (
    <Dialog title="Import items" class="small" onClose={leave}>
      <p>
        A JSON array of objects, or one object a line. Each becomes a new item; the service makes
        the ids.
      </p>
      <label class="field">
        File
        <input
          type="file"
          accept=".json,.jsonl,.ndjson,application/json"
          disabled={isRunning}
          onChange={(event) => open(event.currentTarget.files?.[0])}
        />
      </label>
      <p role="status">
        {reading && `Reading ${reading}…`}
        {count > 0 && next === 0 && !isRunning && `${counted(count, 'item')} to import.`}
        {next > 0 && !isRunning && `${imported} imported. ${named(leftOut, entries)}`}
      </p>
      {isRunning && (
        <p>
          <progress max={count} value={next} aria-label="Imported" /> {imported}
        </p>
      )}
      {(fault || failure) && (
        <p class="problem" role="alert">
          {fault || failure}
        </p>
      )}
      <div class="buttons">
        <button
          ref={main}
          type="button"
          class="main"
          aria-disabled={isEnded}
          onClick={() => {
            if (isRunning) work.current.abort()
            else if (!isEnded) run(progress)
          }}
        >
          {isRunning && 'Stop'}
          {!isRunning && failure && `Try item ${next + 1} again`}
          {!isRunning && !failure && (isPartial ? 'Go on' : 'Import')}
        </button>
        {failure && (
          <button
            type="button"
            onClick={() => run({ next: next + 1, leftOut: [...leftOut, next] })}
          >
            Go on without item {next + 1}
          </button>
        )}
        <button type="button" class="last" onClick={leave}>
          Close
        </button>
      </div>
      {question}
    </Dialog>
  )
}

/** Which entries were left out, in words. */
function named(leftOut: readonly number[], entries: readonly Entry[]): string {
  if (leftOut.length === 0) return ''
  const names = leftOut
    .slice(0, mostNamed)
    .map((index) => `item ${index + 1} (line ${entries[index]?.line})`)
  const others = leftOut.length - names.length
  return `Left out: ${names.join(', ')}${others > 0 ? ` and ${formatted(others)} more` : ''}.`
}
