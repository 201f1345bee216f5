/** Deletes an item, once asked: the service cannot bring it back under its id. @module */

import { useState } from 'preact/hooks'
import { Confirm } from './dialog.js'
import { type Item, startOf } from './item.js'
import { type ItemService, isGone, wordsFor } from './service.js'

export interface DeleteProps {
  readonly item: Item
  readonly service: ItemService
  /** It is gone, whoever has deleted it. */
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
          Not deleted. {wordsFor(problem)}
        </p>
      )}
    </Confirm>
  )
}
