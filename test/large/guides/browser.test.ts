/** Tests the web page in docs/how-to/web-app.md in a browser. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scriptedServer } from '../../client/scripted-server.js'
import { itemsOf } from '../../conformance/expect.js'
import { inSeconds, validClaims } from '../../conformance/tokens.js'
import { inChromium, openPage } from '../../support/chromium.js'
import { respondingAt } from '../../support/own-service.js'
import { freePort } from '../../support/process.js'
import { snippetsBy, startInShell } from '../../support/snippets.js'
import { emptyFolder } from '../../support/tarball.js'
import { until } from '../../support/until.js'

test(
  'docs/how-to/web-app.md: the page lists, adds and deletes items, and reports an expired token',
  inChromium,
  async () => {
    const { sh, html } = snippetsBy('docs/how-to/web-app.md', ['sh', 'html', 'ts', 'tsx'])
    const [start] = sh
    assert.ok(start !== undefined && html[0] !== undefined)
    const secret = 'a secret of at least thirty-two bytes'
    const port = await freePort()
    const env = { JWT_SECRET: secret, PORT: String(port) }
    startInShell(start, { cwd: emptyFolder(), env })
    const service = await respondingAt(port, secret)

    const { text } = html[0]
    assert.ok(text.includes('localhost:8000') && text.includes('PUT THE TOKEN HERE'))
    const withToken = (token: string) =>
      text.replace('localhost:8000', `localhost:${port}`).replace('PUT THE TOKEN HERE', token)
    const { baseUrl } = await scriptedServer([
      (response, { url }) => {
        const expired = service.mint({ ...validClaims(), exp: inSeconds(-10) })
        response.setHeader('content-type', 'text/html')
        response.end(withToken(url === '/expired' ? expired : service.validToken()))
      },
    ])

    const page = await openPage(new URL('/', baseUrl).href)
    await page.locator('[name=text]').fill('buy milk')
    await page.getByText('Add').click()
    await page.locator('li').getByText('buy milk').waitFor()
    assert.equal(itemsOf(await service.call('GET', '/items')).length, 1)
    await page.locator('li').getByText('Delete').click()
    await until(
      'the note is deleted',
      async () => itemsOf(await service.call('GET', '/items')).length === 0,
    )

    await page.goto(new URL('/expired', baseUrl).href)
    await page.getByRole('alert').getByText('TOKEN_EXPIRED').waitFor()
  },
)
