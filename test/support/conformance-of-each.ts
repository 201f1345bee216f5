/** Runs the conformance tests against several services. Arguments: test file, then base URLs. */

import { pathToFileURL } from 'node:url'

const [tests = '', ...urls] = process.argv.slice(2)
process.stdout.setMaxListeners(0) // each import of the tests adds a listener
for (const [n, url] of urls.entries()) {
  process.env.BASE_URL = url
  await import(`${pathToFileURL(tests).href}?${n}`) // the query makes each import run the tests again
}
