/** Components that both pages use: product name, buttons and copy buttons. @module */

import type { ComponentProps } from 'preact'
import { useState } from 'preact/hooks'

const logo = new URL('./icon.svg', import.meta.url).href // also the page's icon, so that browsers load it once

export function Brand() {
  return (
    <span class="brand">
      <img src={logo} alt="" width="20" height="20" />
      Item Store
    </span>
  )
}

export function Button(props: ComponentProps<'button'>) {
  return <button type="button" {...props} />
}

/** Hidden without a clipboard. Without TLS, browsers offer one only to pages from the same machine. */
export function CopyButton({ what, text }: { what: string; text: string }) {
  const [copied, setCopied] = useState<{ text: string; outcome: string }>()
  if (navigator.clipboard === undefined) return null
  async function copy(): Promise<void> {
    const outcome = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'Not copied',
    )
    setCopied({ text, outcome })
  }
  return (
    <Button onClick={copy}>
      {copied?.text === text ? (
        copied.outcome
      ) : (
        <>
          Copy<span class="what"> {what}</span>
        </>
      )}
    </Button>
  )
}
