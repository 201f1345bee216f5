/** Dialogs: the platform's, which keep the focus inside and give it back afterwards. @module */

import type { ComponentChildren, VNode } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../shared/components.js'
import { useMedia } from './use-media.js'

export interface DialogProps {
  readonly title: string
  readonly class?: string
  /** Where the dialog is, instead of the middle of the window. There, the title is for screen readers alone. */
  readonly style?: Readonly<Record<string, string>>
  readonly actions?: ComponentChildren
  /** Whether the focus is on the title at first, and not on what can be used first. */
  readonly autofocus?: boolean
  /** Whether the rest of the page stays usable. */
  readonly isBeside?: boolean
  /** Escape was pressed, or whatever else closes a dialog on this platform. */
  readonly onClose: () => void
  readonly onKeyDown?: (event: KeyboardEvent) => void
  readonly onOutside?: () => void
  readonly children: ComponentChildren
}

/** Open as long as it is in the page. */
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
      // The browser gives the focus back, but not from below another dialog that closes with this one.
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
        // A dialog above this one has keys of its own.
        if (event.target instanceof Element && event.target.closest('dialog') !== dialog.current)
          return
        onKeyDown?.(event)
        if (event.key !== 'Escape' || event.defaultPrevented) return
        event.preventDefault() // the browser would close it at the second Escape, whatever `cancel` says
        event.stopPropagation() // it is not for what is below
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

/** Beside the list, which stays usable; on a narrow screen, a dialog that fills it. */
export function Panel(props: DialogProps) {
  const isNarrow = useMedia('(width < 40rem)')
  return <Dialog key={isNarrow} class="panel" isBeside={!isNarrow} {...props} />
}

/** The words of the confirmation for what is lost by closing. */
export interface Loss {
  readonly title: string
  readonly text: string
  readonly action: string
}

/** The browser asks before it leaves the page. */
export function useWarning(isNeeded: boolean): void {
  useLayoutEffect(() => {
    if (!isNeeded) return undefined
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isNeeded])
}

/**
 * Closes only after a confirmation if something would be lost; the browser then also asks before it leaves
 * the page.
 * @returns how to close, and the confirmation while it is open.
 */
export function useConfirmedClose(
  loss: Loss | undefined,
  onClose: () => void,
): [close: () => void, confirmation: VNode | undefined] {
  const [isAsking, setAsking] = useState(false)
  const isSafe = loss === undefined
  useWarning(!isSafe)
  useLayoutEffect(() => {
    if (isSafe) setAsking(false)
  }, [isSafe])
  const confirmation = isAsking && loss && (
    <Dialog title={loss.title} onClose={() => setAsking(false)}>
      <p>{loss.text}</p>
      <div class="line">
        {/* The harmless answer has the focus. */}
        <Button autofocus onClick={() => setAsking(false)}>
          Cancel
        </Button>
        <Button class="danger last" onClick={onClose}>
          {loss.action}
        </Button>
      </div>
    </Dialog>
  )
  return [() => (isSafe ? onClose() : setAsking(true)), confirmation || undefined]
}
