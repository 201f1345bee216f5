/** Loads the form of an operation with its styles. A page without an open form needs neither. @module */

import { ReceivedResponse } from './received-response.js'
import { TryIt } from './try-it.js'

/** @throws {Event} if the styles cannot be loaded. */
export async function loadForm() {
  const href = new URL('./form.css', import.meta.url).href
  if (document.querySelector(`[href="${href}"]`) === null) {
    const styles = document.createElement('link')
    styles.rel = 'stylesheet'
    styles.href = href
    await new Promise((resolve, reject) => {
      styles.onload = resolve
      styles.onerror = (event) => {
        styles.remove()
        reject(event)
      }
      document.head.append(styles)
    })
  }
  return { TryIt, ReceivedResponse }
}
