/** Loads the form of an operation, and the styles of the form. @module */

import { loadStyles } from '../shared/load-styles.js'
import { ReceivedResponse } from './received-response.js'
import { TryIt } from './try-it.js'

let isStyled = false

export async function loadForm() {
  if (!isStyled) await loadStyles(new URL('./form.css', import.meta.url))
  isStyled = true
  return { TryIt, ReceivedResponse }
}
