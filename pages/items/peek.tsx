/** The popover that shows the whole value of a table cell, so that the user can read and copy it. @module */

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { CopyButton } from '../shared/components.js'
import { layOut } from '../shared/json-layout.js'
import { keyOf } from '../shared/keys.js'
import { formatted } from '../shared/numbers.js'
import { kindOf, memberText, shownName } from './item.js'
import { stringOf } from './members.js'
import type { Peeked } from './state/overlay.js'
import type { Page } from './use-page.js'

/** Maximum number of characters of a value to display. The copy button copies the whole value. */
const longest = 20_000
/** Maximum width of the popover, and minimum space around it, in CSS pixels. */
const widest = 480
const margin = 8

export function Peek({ overlay, close }: Page & { readonly overlay: Peeked }) {
  const { item, name, box, hasFocus } = overlay
  const onClose = () => close('peek')
  const popover = useRef<HTMLDivElement>(null)
  const [left, setLeft] = useState(0)
  const value = useRef<HTMLPreElement>(null)
  useLayoutEffect(() => {
    popover.current?.showPopover()
    const width = popover.current?.offsetWidth ?? 0
    setLeft(Math.max(margin, Math.min(box.left, innerWidth - width - margin)))
    if (hasFocus) value.current?.focus()
    const leave = (event: Event) => {
      if (event.target instanceof Node && popover.current?.contains(event.target)) return
      if (event instanceof MouseEvent && (hasFocus || isIn(box, event))) return
      onClose()
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
  }, [hasFocus])
  const json = memberText(item, name) ?? ''
  const text = kindOf(json) === 'string' ? stringOf(json) : json
  const shown = kindOf(json) === 'nested' ? layOut(json) : text
  return (
    <div
      ref={popover}
      // An automatic popover would close the menu.
      popover={hasFocus ? 'auto' : 'manual'}
      class="peek"
      role="dialog"
      aria-label={`Value of ${shownName(name)}`}
      style={{ left: `${left}px`, ...placeBeside(box) }}
      onToggle={({ newState }) => newState === 'closed' && onClose()}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll */}
      <pre ref={value} tabIndex={0} translate={false}>
        {shown.slice(0, longest)}
        {shown.length > longest && `…\n(${formatted(shown.length)} characters)`}
      </pre>
      <CopyButton what="value" text={text} />
    </div>
  )
}

function isIn(
  { left, right, top, bottom }: Peeked['box'],
  { clientX, clientY }: MouseEvent,
): boolean {
  return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom
}

function placeBeside({ top, bottom }: Peeked['box']): Record<string, string> {
  const isBelow = innerHeight - bottom > top
  const space = isBelow ? innerHeight - bottom : top
  return {
    maxWidth: `min(${widest}px, 100vw - ${2 * margin}px)`,
    maxHeight: `${space - margin}px`,
    ...(isBelow ? { top: `${bottom}px` } : { bottom: `${innerHeight - top}px` }),
  }
}
