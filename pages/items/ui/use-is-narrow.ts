/** Tells whether the screen is narrow. On a narrow screen, rows are cards, and the panel covers the list. @module */

import { useEffect, useState } from 'preact/hooks'

const narrow = matchMedia('(width < 40rem)')

export function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(narrow.matches)
  useEffect(() => {
    const update = () => setNarrow(narrow.matches)
    narrow.addEventListener('change', update)
    return () => narrow.removeEventListener('change', update)
  }, [])
  return isNarrow
}
