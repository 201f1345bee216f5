/** Deletes an item after a confirmation: the service cannot restore it with its id. @module */

import { useState } from 'preact/hooks'
import { Confirm } from './dialog.js'
import { type Item, startOf } from './item.js'
import { ChangedError, type ItemService, messageFor } from './service.js'

export interface DeleteProps {
  readonly item: Item
  readonly service: ItemService
  /** The item is gone, whoever deleted it. */
  readonly onDeleted: () => void
  /** It is another one now. */
  readonly onChanged: (item: Item) => void
  /** A request failed. */
  readonly onProblem: (problem: unknown) => void
  readonly onClose: () => void
}

export function Delete(props: DeleteProps) {
  const { item, service, onDeleted, onChanged, onProblem, onClose } = props
  const [isChanged, setChanged] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)

  async function run(): Promise<void> {
    setBusy(true)
    setProblem(undefined)
    try {
      await service.delete(item)
    } catch (error) {
      const isKnown = error instanceof ChangedError
      if (!isKnown || error.text !== undefined) {
        setBusy(false)
        if (isKnown) {
          setChanged(true)
          onChanged({ id: item.id, text: error.text ?? '' })
        } else {
          setProblem(error)
          onProblem(error)
        }
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
      {isChanged && <p role="alert">It was changed elsewhere, and not deleted. It is now:</p>}
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
