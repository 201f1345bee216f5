/** Creates the items of a file, one after the other, so that they are listed in its order. @module */

import { useEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from './dialog.js'
import { type Entry, readEntries } from './import-file.js'
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

export function Import({ service, onImported, onProblem, onClose }: ImportProps) {
  const [entries, setEntries] = useState<readonly Entry[]>()
  const [done, setDone] = useState(0)
  const [isRunning, setRunning] = useState(false)
  const [problem, setProblem] = useState('')
  const isStopped = useRef(false)
  useEffect(
    () => () => {
      isStopped.current = true
    },
    [],
  )

  async function open(file: File | undefined): Promise<void> {
    setEntries(undefined)
    setDone(0)
    setProblem('')
    if (!file) return
    try {
      const bytes = new Uint8Array(await file.arrayBuffer())
      setEntries(await readEntries(bytes, startPace()))
    } catch (error) {
      setProblem(`${file.name}: ${wordsFor(error)}`)
    }
  }

  /** Goes on where it has ended. */
  async function run(entries: readonly Entry[]): Promise<void> {
    isStopped.current = false
    setRunning(true)
    setProblem('')
    let next = done
    try {
      for (const { body } of entries.slice(done)) {
        if (isStopped.current) break
        await service.create(body)
        next += 1
        setDone(next)
      }
    } catch (error) {
      const doubt = isUncertain(error) ? ' It may have been created all the same.' : ''
      const line = entries[next]?.line
      setProblem(`Item ${next + 1}, which begins in line ${line}: ${wordsFor(error)}.${doubt}`)
      onProblem(error)
    }
    setRunning(false)
    onImported()
  }

  const count = entries?.length ?? 0
  return (
    <Dialog title="Import items" class="small" onClose={onClose}>
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
        {entries && done === 0 && !isRunning && `${counted(count, 'item')} to import.`}
        {done > 0 && !isRunning && `${formatted(done)} of ${counted(count, 'item')} imported.`}
      </p>
      {isRunning && (
        <p>
          <progress max={count} value={done} aria-label="Imported" /> {formatted(done)} of{' '}
          {formatted(count)}
        </p>
      )}
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="buttons">
        {entries && done < count && !isRunning && (
          <button type="button" class="main" onClick={() => run(entries)}>
            {done === 0 ? 'Import' : 'Go on'}
          </button>
        )}
        {isRunning && (
          <button
            type="button"
            onClick={() => {
              isStopped.current = true
            }}
          >
            Stop
          </button>
        )}
        <button type="button" class="last" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
