/** Tells whether the screen is so narrow that rows are cards, and that the panel covers the list. @module */

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
