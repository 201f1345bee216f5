/** The popover that shows the whole value of a table cell, so that the user can read and copy it. @module */

import { useLayoutEffect, useRef } from 'preact/hooks'
import { CopyButton } from '../../shared/components.js'
import { keyOf } from '../../shared/keys.js'
import { formatted } from '../../shared/numbers.js'
import { memberText, shownName } from '../model/item.js'
import { plainText, tidied } from '../model/values.js'
import type { OverlayOf } from '../state/overlay.js'

const longest = 20_000 // characters; the copy button copies the whole value

type PopoverProps = OverlayOf<'peek'> & { readonly onClose: () => void }

export function Popover({ item, name, cell, hasFocus, onClose }: PopoverProps) {
  const popover = useRef<HTMLDivElement>(null)
  const value = useRef<HTMLPreElement>(null)
  useLayoutEffect(() => {
    popover.current?.showPopover({ source: cell })
    if (hasFocus) value.current?.focus()
    const leave = ({ target, type }: Event) => {
      const isInside = target instanceof Node && popover.current?.contains(target)
      const isAbove = target instanceof Node && cell.contains(target)
      if (!isInside && !(type === 'mouseover' && (hasFocus || isAbove))) onClose()
    }
    const controller = new AbortController()
    const { signal } = controller
    const onKey = (event: KeyboardEvent) => {
      if (keyOf(event) !== 'Escape') return
      event.preventDefault()
      event.stopPropagation() // the list must not handle this key
      onClose()
    }
    addEventListener('keydown', onKey, { signal, capture: true })
    addEventListener('mouseover', leave, { signal })
    addEventListener('scroll', leave, { signal, capture: true }) // scrolling moves the cell away
    return () => controller.abort()
  }, [cell, hasFocus])
  const json = memberText(item, name) ?? ''
  const shown = plainText(tidied(json))
  return (
    <div
      ref={popover}
      // A popover of type `auto` would close the menu.
      popover={hasFocus ? 'auto' : 'manual'}
      class="peek"
      role="dialog"
      aria-label={`Value of ${shownName(name)}`}
      onToggle={({ newState }) => newState === 'closed' && onClose()}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll */}
      <pre ref={value} tabIndex={0} translate={false}>
        {shown.slice(0, longest)}
        {shown.length > longest && `…\n(${formatted(shown.length)} characters)`}
      </pre>
      <CopyButton what="value" text={plainText(json)} />
    </div>
  )
}
