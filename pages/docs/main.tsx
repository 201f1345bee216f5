/** The API page: what the OpenAPI document of the service says, and a form to try each operation. @module */

import { render } from 'preact'
import { DocumentPage } from './document-page.js'

const place = document.getElementById('page')
if (place === null) throw new Error('index.html has no element with the id "page"')
render(<DocumentPage />, place)
