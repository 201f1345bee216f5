/** Starts the items page. @module */

import { render } from 'preact'
import { App } from './app.js'

const place = document.getElementById('page')
if (place === null) throw new Error('index.html has no element with the id "page"')
render(<App />, place)

// Preloads the editor, so that the user can edit even while the service is unreachable.
const whenIdle = globalThis.requestIdleCallback ?? setTimeout
whenIdle(() => {
  import('./edit/json-editor.js').catch(() => undefined) // the next use loads it again
})
