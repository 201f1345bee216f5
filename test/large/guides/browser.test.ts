/** The page of the guide for web apps, in a browser and from another origin. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { serviceAt } from '../../conformance/client.js'
import { itemsOf } from '../../conformance/expect.js'
import { inSeconds, validClaims } from '../../conformance/tokens.js'
import { freePort } from '../../support/process.js'
import { programTest } from '../../support/program-test.js'
import { snippetsBy, startInShell } from '../../support/snippets.js'
import { requireTool } from '../../support/tools.js'
import { until } from '../../support/until.js'

/** What is used of Playwright. */
interface Page {
  goto(url: string): Promise<unknown>
  fill(selector: string, text: string): Promise<void>
  click(selector: string): Promise<void>
  waitForSelector(selector: string): Promise<unknown>
  textContent(selector: string): Promise<string | null>
}
interface Playwright {
  chromium: {
    launch(options: object): Promise<{ newPage(): Promise<Page>; close(): Promise<void> }>
  }
}

programTest(
  'chromium',
  'docs/how-to/web-app.md: the page lists, adds and deletes, and tells an expired token',
  async (executablePath) => {
    const { sh, html } = snippetsBy('docs/how-to/web-app.md', ['sh', 'html'])
    const [start] = sh
    assert.ok(start !== undefined && html[0] !== undefined)
    const secret = 'a secret of at least thirty-two bytes'
    const port = await freePort()
    const env = { JWT_SECRET: secret, PORT: String(port) }
    startInShell(start, { cwd: mkdtempSync(join(tmpdir(), 'item-store-guide-')), env })
    const service = serviceAt(new URL(`http://127.0.0.1:${port}/api/v1`), secret)
    await until('the store serves', () => service.request('GET', '/health').catch(() => undefined))

    const { text } = html[0]
    assert.ok(text.includes('localhost:8000') && text.includes('PUT THE TOKEN HERE'))
    const withToken = (token: string) =>
      text.replace('localhost:8000', `localhost:${port}`).replace('PUT THE TOKEN HERE', token)
    const pages = createServer((request, response) => {
      const expired = service.mint({ ...validClaims(), exp: inSeconds(-10) })
      response.setHeader('content-type', 'text/html')
      response.end(withToken(request.url === '/expired' ? expired : service.validToken()))
    }).listen(0, '127.0.0.1')
    after(() => pages.close())
    await once(pages, 'listening')
    const address = pages.address()
    assert.ok(address !== null && typeof address === 'object')
    const origin = `http://127.0.0.1:${address.port}`

    const { chromium }: Playwright = requireTool('playwright-core')
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    after(() => browser.close())
    const page = await browser.newPage()
    await page.goto(`${origin}/`)
    await page.fill('[name=text]', 'buy milk')
    await page.click('text=Add')
    await page.waitForSelector('li:has-text("buy milk")')
    assert.equal(itemsOf(await service.call('GET', '/items')).length, 1)
    await page.click('li >> text=Delete')
    await until(
      'the note is deleted',
      async () => itemsOf(await service.call('GET', '/items')).length === 0,
    )

    await page.goto(`${origin}/expired`)
    await page.waitForSelector('[role=alert]:has-text("TOKEN_EXPIRED")')
  },
)
