/** Dialogs based on the `dialog` element, which takes focus when it opens and restores focus when it closes. @module */

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from '../../shared/components.js'
import { keyOf } from '../../shared/keys.js'

interface DialogProps {
  readonly title: string
  readonly class?: string
  readonly isTitleHidden?: boolean // only screen readers get the title
  readonly actions?: ComponentChildren
  readonly autofocus?: boolean
  readonly isBeside?: boolean // the rest of the page stays usable
  readonly onClose: () => void
  readonly onKeyDown?: (event: KeyboardEvent) => void
  readonly onOutside?: () => void
  readonly children: ComponentChildren
}

export function Dialog(props: DialogProps) {
  const { title, class: name, isTitleHidden, actions, autofocus, isBeside, children } = props
  const { onClose, onKeyDown, onOutside } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const isPressedOutside = useRef(false)
  useLayoutEffect(() => {
    if (!isBeside) dialog.current?.showModal()
    return () => dialog.current?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      open={isBeside} // the method `show` would move the focus
      class={name}
      aria-label={title}
      onMouseDown={({ target }) => {
        isPressedOutside.current = target === dialog.current
      }}
      onClick={({ target }) => {
        // Whoever selects text in a field may drag beyond the dialog. That's no click outside it.
        if (target === dialog.current && isPressedOutside.current) onOutside?.()
      }}
      onKeyDown={(event) => {
        // Ignores keys pressed in a dialog on top of this one.
        if (event.target instanceof Element && event.target.closest('dialog') !== dialog.current)
          return
        onKeyDown?.(event)
        if (keyOf(event) !== 'Escape' || event.defaultPrevented) return
        event.preventDefault() // otherwise, a second Escape would close the dialog despite the prevented `cancel` event
        event.stopPropagation() // the list must not handle this key
        onClose()
      }}
      onCancel={(event) => {
        event.preventDefault()
        if (event.target === dialog.current) onClose()
      }}
    >
      {!isTitleHidden && (
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

/** Makes the browser ask for confirmation before the user leaves the page. */
export function useWarning(isNeeded: boolean): void {
  useLayoutEffect(() => {
    if (!isNeeded) return undefined
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isNeeded])
}

interface QuestionProps {
  readonly title: string
  readonly text: string
  readonly action: string
  readonly onStay: () => void
  readonly onLeave: () => void
}

export function Question({ title, text, action, onStay, onLeave }: QuestionProps) {
  return (
    <Dialog title={title} onClose={onStay}>
      <p>{text}</p>
      <div class="line foot">
        <Button autofocus onClick={onStay}>
          Cancel
        </Button>
        <Button class="danger" onClick={onLeave}>
          {action}
        </Button>
      </div>
    </Dialog>
  )
}
