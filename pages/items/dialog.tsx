/** Dialogs based on the `dialog` element, which takes focus when it opens and restores focus when it closes. @module */

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../shared/components.js'
import { useIsNarrow } from './use-is-narrow.js'

interface DialogProps {
  readonly title: string
  readonly class?: string
  /** CSS position of the dialog. If a position is set, only screen readers get the title. */
  readonly style?: Readonly<Record<string, string>>
  readonly actions?: ComponentChildren
  readonly autofocus?: boolean
  /** Whether the user can use the rest of the page while the dialog is open. */
  readonly isBeside?: boolean
  readonly onClose: () => void
  readonly onKeyDown?: (event: KeyboardEvent) => void
  readonly onOutside?: () => void
  readonly children: ComponentChildren
}

export function Dialog(props: DialogProps) {
  const { title, class: name, style, actions, autofocus, isBeside, children } = props
  const { onClose, onKeyDown, onOutside } = props
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    const opener = document.activeElement
    if (!isBeside) element?.showModal()
    return () => {
      element?.close()
      // Browsers do not restore focus if a dialog on top of this dialog closes at the same time.
      queueMicrotask(() => {
        if (document.activeElement === document.body && opener instanceof HTMLElement)
          opener.focus()
      })
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={name}
      style={style}
      open={isBeside}
      aria-label={title}
      onClick={({ target }) => target === dialog.current && onOutside?.()}
      onKeyDown={(event) => {
        // Ignores keys that are pressed in a dialog on top of this one.
        if (event.target instanceof Element && event.target.closest('dialog') !== dialog.current)
          return
        onKeyDown?.(event)
        if (event.key !== 'Escape' || event.defaultPrevented) return
        event.preventDefault() // otherwise, a second Escape would close the dialog despite the prevented `cancel` event
        event.stopPropagation() // the list must not handle this key
        onClose()
      }}
      onCancel={(event) => {
        event.preventDefault()
        if (event.target === dialog.current) onClose()
      }}
    >
      {!style && (
        <div class="line title">
          <h2 tabIndex={autofocus ? -1 : undefined} autofocus={autofocus}>
            {title}
          </h2>
          {actions}
        </div>
      )}
      {children}
    </dialog>
  )
}

export function Panel(props: DialogProps) {
  const isNarrow = useIsNarrow()
  return <Dialog key={isNarrow} class="panel" isBeside={!isNarrow} {...props} />
}

export type Loss = Readonly<Record<'title' | 'text' | 'action', string>>

/** Makes the browser ask for confirmation before the user leaves the page. */
export function useWarning(isNeeded: boolean): void {
  useLayoutEffect(() => {
    if (!isNeeded) return undefined
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isNeeded])
}

/**
 * Returns a close function and a confirmation dialog. The function opens this dialog first if closing would lose
 * something. `onStay` is called if the user cancels.
 */
export function useConfirmedClose(
  loss: Loss | undefined,
  onClose: () => void,
  onStay?: () => void,
) {
  const [isAsking, setAsking] = useState(false)
  const isSafe = loss === undefined
  useWarning(!isSafe)
  useLayoutEffect(() => {
    if (isSafe) setAsking(false)
  }, [isSafe])
  const stay = () => {
    setAsking(false)
    onStay?.()
  }
  const confirmation = isAsking && loss && (
    <Dialog title={loss.title} onClose={stay}>
      <p>{loss.text}</p>
      <div class="line foot">
        <Button autofocus onClick={stay}>
          Cancel
        </Button>
        <Button class="danger" onClick={onClose}>
          {loss.action}
        </Button>
      </div>
    </Dialog>
  )
  const close = () => (isSafe ? onClose() : setAsking(true))
  return [close, confirmation] as const
}
