/** The items page. @module */

import { render } from 'preact'
import { TokenForm } from '../shared/token-form.js'

const place = document.getElementById('page')
if (place === null) throw new Error('index.html has no element with the id "page"')
render(
  <main>
    <h1>Items</h1>
    <TokenForm />
  </main>,
  place,
)
