/** Whether there is the other page, so that it can be linked to. @module */

import { useEffect, useState } from 'preact/hooks'

/** Whether the service links this page to one that is this to it, which a header says (RFC 8288 §3). */
export function useLink(relation: string): boolean {
  const [isThere, setThere] = useState(false)
  useEffect(() => {
    fetch(location.pathname, { method: 'HEAD' }).then(
      ({ headers }) => setThere(headers.get('link')?.includes(`rel="${relation}"`) === true),
      () => undefined, // without the service, the link would lead nowhere
    )
  }, [])
  return isThere
}
