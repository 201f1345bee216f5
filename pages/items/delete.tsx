/** Deletes an item after a confirmation: the service cannot restore it with its id. @module */

import { useState } from 'preact/hooks'
import { Confirm } from './dialog.js'
import { type Item, startOf } from './item.js'
import { type ItemService, isGone, messageFor } from './service.js'

export interface DeleteProps {
  readonly item: Item
  readonly service: ItemService
  /** The item is gone, whoever deleted it. */
  readonly onDeleted: () => void
  /** A request failed. */
  readonly onProblem: (problem: unknown) => void
  readonly onClose: () => void
}

export function Delete({ item, service, onDeleted, onProblem, onClose }: DeleteProps) {
  const [problem, setProblem] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)

  async function run(): Promise<void> {
    setBusy(true)
    setProblem(undefined)
    try {
      await service.delete(item.id)
    } catch (error) {
      if (!isGone(error)) {
        setBusy(false)
        setProblem(error)
        onProblem(error)
        return
      }
    }
    onDeleted()
  }

  return (
    <Confirm
      title="Delete this item?"
      action={isBusy ? 'Deleting…' : 'Delete'}
      isBusy={isBusy}
      onYes={run}
      onNo={onClose}
    >
      <p class="id">{item.id}</p>
      <p class="start">{startOf(item)}</p>
      {problem !== undefined && (
        <p class="problem" role="alert">
          Not deleted. {messageFor(problem)}
        </p>
      )}
    </Confirm>
  )
}
