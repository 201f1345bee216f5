/** Copies a text. @module */

import { useState } from 'preact/hooks'

export interface CopyButtonProps {
  /** What is copied. */
  readonly what: string
  readonly text: string
}

/** Browsers allow this only to pages with TLS or from this machine; others get no button. */
export function CopyButton({ what, text }: CopyButtonProps) {
  const [copied, setCopied] = useState<{ text: string; outcome: string }>()
  if (navigator.clipboard === undefined) return null
  async function copy(): Promise<void> {
    const outcome = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'Not copied: the browser does not allow it',
    )
    setCopied({ text, outcome })
  }
  return (
    <button type="button" onClick={copy}>
      {copied?.text === text ? copied.outcome : `Copy ${what}`}
    </button>
  )
}
