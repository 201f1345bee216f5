/** Exports the request form and the received response, and loads their styles. @module */

import { loadStyles } from '../shared/load-styles.js'
import { ReceivedResponse } from './received-response.js'
import { TryIt } from './try-it.js'

export async function loadForm() {
  await loadStyles(new URL('./form.css', import.meta.url))
  return { TryIt, ReceivedResponse }
}
