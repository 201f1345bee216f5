/** Dialogs: the platform's, which keep the focus inside and give it back. @module */

import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

export interface DialogProps {
  readonly title: string
  readonly class?: string
  /** Whether the focus is on the title at first, and not on what can be used first. */
  readonly autofocus?: boolean
  /** Escape was pressed, or another key or gesture of the platform's for it. */
  readonly onClose: () => void
  readonly onKeyDown?: (event: KeyboardEvent) => void
  readonly children: ComponentChildren
}

/** Open as long as it is in the page. */
export function Dialog(props: DialogProps) {
  const { title, class: name, autofocus, onClose, onKeyDown, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useLayoutEffect(() => {
    const element = dialog.current
    const opener = document.activeElement
    element?.showModal()
    return () => {
      element?.close()
      // The browser gives the focus back, but not from below another dialog that closes with this one.
      queueMicrotask(() => {
        const isLost = document.activeElement === document.body
        if (isLost && opener instanceof HTMLElement) opener.focus()
      })
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={name}
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        onKeyDown?.(event)
        if (event.key !== 'Escape' || event.defaultPrevented) return
        // The browser would close it at the second Escape, whatever `cancel` says.
        event.preventDefault()
        event.stopPropagation() // it is not for the dialog below
        onClose()
      }}
      onCancel={(event) => {
        event.preventDefault()
        if (event.target === dialog.current) onClose()
      }}
    >
      <h2 id={titleId} tabIndex={autofocus ? -1 : undefined} autofocus={autofocus}>
        {title}
      </h2>
      {children}
    </dialog>
  )
}

export interface ConfirmProps {
  readonly title: string
  readonly children: ComponentChildren
  /** What the button says that does it. */
  readonly action: string
  /** Whether it is being done: then the question stays, and has been answered. */
  readonly isBusy?: boolean
  readonly onYes: () => void
  readonly onNo: () => void
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, children, action, isBusy, onYes, onNo }: ConfirmProps) {
  const answer = (act: () => void) => () => isBusy || act()
  return (
    <Dialog title={title} class="small" onClose={answer(onNo)}>
      {children}
      <div class="buttons">
        {/* The answer that harms nothing has the focus. */}
        <button type="button" autofocus aria-disabled={isBusy} onClick={answer(onNo)}>
          Cancel
        </button>
        <button type="button" class="danger" aria-disabled={isBusy} onClick={answer(onYes)}>
          {action}
        </button>
      </div>
    </Dialog>
  )
}
