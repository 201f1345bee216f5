/** Tells whether the screen is narrow. On a narrow screen, rows are cards, and the panel covers the list. @module */

import { createState } from '../../shared/state.js'

const narrow = matchMedia('(width < 40rem)')
const isNarrow = createState(narrow.matches)
narrow.addEventListener('change', () => isNarrow.set(narrow.matches))

export const useIsNarrow = isNarrow.use
