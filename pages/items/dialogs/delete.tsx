/** The dialog that confirms and runs a deletion. A deleted item cannot be restored with the same id. @module */

import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../shared/components.js'
import { counted, formatted } from '../../shared/numbers.js'
import { type Item, startOf } from '../model/item.js'
import { ChangedError } from '../service/changes.js'
import { deleteItems } from '../service/delete.js'
import { messageFor } from '../service/requests.js'
import { putFound } from '../state/list.js'
import { forget } from '../state/panel.js'
import { Dialog, useWarning } from '../ui/dialog.js'

type Failure = ReturnType<typeof failureOf>

const mostListed = 100 // failures

interface DeleteProps {
  readonly items: readonly Item[]
  readonly rows: readonly Item[]
  readonly onClose: () => void
}

export function Delete({ items, rows, onClose }: DeleteProps) {
  const [rest, setRest] = useState(items)
  const [failures, setFailures] = useState<readonly Failure[]>([])
  const [tried, setTried] = useState<number>() // items tried so far; `undefined` while no deletion is running
  const work = useRef<AbortController>(undefined)
  useEffect(() => () => work.current?.abort(), [])
  const isRunning = tried !== undefined
  useWarning(isRunning)

  async function run(): Promise<void> {
    work.current = new AbortController()
    setFailures([])
    setTried(0)
    const { deleted, failed } = await deleteItems(rest, work.current.signal, setTried)
    for (const error of failed.values()) if (error instanceof ChangedError) putFound(error)
    const found = new Map(Array.from(failed, ([item, error]) => [item, failureOf(item, error)]))
    setTried(undefined)
    setFailures([...found.values()])
    const left = rest.filter(({ id }) => !deleted.has(id))
    setRest(left.map((item) => found.get(item)?.item ?? item))
    forget(deleted, rows)
    if (left.length === 0) onClose()
  }

  const isOne = items.length === 1
  const isTried = failures.length > 0 || rest.length < items.length
  const stop = () => work.current?.abort()
  return (
    <Dialog
      title={isOne ? 'Delete this item?' : `Delete ${counted(items.length, 'item')}?`}
      onClose={isRunning ? stop : onClose}
    >
      {isOne && !isTried && items.map((item) => <Start key={item.id} item={item} />)}
      {!isTried && !isRunning && <p>This cannot be undone.</p>}
      {isRunning && !isOne && (
        <p>
          <progress max={rest.length} value={tried} aria-label="Deleted" /> {formatted(tried)} of{' '}
          {counted(rest.length, 'item')}
        </p>
      )}
      {isTried && !isRunning && (
        <div class="problem" role="alert">
          {!isOne && <p>{report(items.length, rest.length, failures.length)}</p>}
          {failures.length > 0 && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll
            <ul class="failures" tabIndex={0} aria-label="Not deleted">
              {failures.slice(0, mostListed).map(({ item, cause }) => (
                <li key={item.id}>
                  {cause}
                  <Start item={item} />
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      <div class="line foot">
        {/* The Cancel button has the initial focus, because it changes nothing. */}
        <Button autofocus onClick={isRunning ? stop : onClose}>
          {isRunning && !isOne ? 'Stop' : 'Cancel'}
        </Button>
        <Button class="danger" aria-disabled={isRunning} onClick={() => isRunning || run()}>
          {isRunning ? 'Deleting…' : action(isTried, failures.length)}
        </Button>
      </div>
    </Dialog>
  )
}

function failureOf(item: Item, error: unknown) {
  if (!(error instanceof ChangedError)) return { item, cause: `Not deleted. ${messageFor(error)}` }
  const cause = 'It was changed elsewhere, and not deleted. It is now:'
  return { item: { id: item.id, text: error.text ?? '' }, cause }
}

function action(isTried: boolean, failed: number): string {
  if (!isTried) return 'Delete'
  return failed > 0 ? `Try ${failed === 1 ? 'it' : 'these'} again` : 'Continue'
}

function report(all: number, left: number, failed: number): string {
  const untried = left - failed
  const parts = [
    `${formatted(all - left)} of ${counted(all, 'item')} deleted`,
    failed > 0 && `${formatted(failed)} failed`,
    failed > mostListed && `the first ${mostListed} of them below`,
    untried > 0 && `${formatted(untried)} not tried`,
  ]
  return `${parts.filter(Boolean).join(', ')}.`
}

function Start({ item }: { item: Item }) {
  return (
    <>
      <p class="id" translate={false}>
        {item.id}
      </p>
      <p class="start" translate={false}>
        {startOf(item)}
      </p>
    </>
  )
}
