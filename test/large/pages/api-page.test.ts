/** Tests that use the API page in Chromium as a person would. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { layOut } from '../../../pages/shared/json-layout.js'
import { inSeconds } from '../../conformance/tokens.js'
import { inChromium, type Page } from '../../support/chromium.js'
import {
  assertAccessible,
  assertFits,
  assertUsable,
  type GuardOptions,
  screens,
  takePictures,
  useGuardedPages,
} from '../../support/guarded-page.js'
import { ownService } from '../../support/own-service.js'
import { until } from '../../support/process.js'
import { operationsOf, servedDocument } from '../openapi/document.js'

const service = await ownService({ LOG_LEVEL: 'debug' })
const openPage = useGuardedPages()
const origin = service.baseUrl.origin
const token = service.validToken()

/** Data that `JSON.parse` and `JSON.stringify` would change. */
const data = '{"n": 12345678901234567890, "p": 1.0, "b": 1, "a": 1e400, "__proto__": -0}'

async function open(path = '/docs', options?: GuardOptions): Promise<Page> {
  const page = await openPage(origin + path, options)
  await page.getByRole('heading', { name: 'Models' }).waitFor()
  return page
}

function modelOf(name: string): string {
  return `details:has(> #model-${name})`
}

function tokenOf(page: Page): Promise<string> {
  return page.evaluate<string>('document.querySelector("[name=token]").value')
}

async function enterToken(page: Page, text: string): Promise<void> {
  const field = page.getByLabel('Token', { exact: true })
  await page.locator('button.chip').click()
  await field.fill(text)
  await field.press('Enter')
  await field.waitFor({ state: 'hidden' })
}

async function formOf(page: Page, operation: string) {
  const section = page.locator(`#${operation}`)
  const button = section.getByRole('button', { name: 'Send' })
  const outcome = section.getByRole('status').last()
  await section.getByRole('button', { name: 'Try it' }).click()
  await button.waitFor()
  await page.evaluate(
    `for (const each of document.querySelectorAll('form details')) each.open = true`,
  )
  return {
    section,
    send: () => button.click(),
    body: section.getByLabel('Body', { exact: true }),
    outcome,
    shown: section.getByRole('figure', { name: `Body of ${operation}` }),
    async answered(status: number): Promise<string> {
      await outcome.getByText(new RegExp(`^${status} `)).waitFor()
      return (await section.locator('.received').textContent()) ?? ''
    },
  }
}

describe('the API page', inChromium, () => {
  test('the API page shows every endpoint with its models, statuses, error codes, headers and examples', async () => {
    const page = await open('/docs#model-ItemResponse')
    const document = await servedDocument(new URL(origin))
    const textOf = async (selector: string) => (await page.locator(selector).textContent()) ?? ''
    const titles = await page.evaluate<string[]>(
      '[...document.querySelectorAll("figure")].map((figure) => figure.closest("section").id + figure.ariaLabel)',
    )
    const errors = await textOf('#errors')
    for (const { operationId, method, path, responses } of operationsOf(document)) {
      const own = await textOf(`#${operationId}`)
      assert.ok(own.includes(`${method} /api/v1${path}`), own.slice(0, 200))
      for (const [status, { headers, content }] of Object.entries(responses)) {
        assert.ok(own.includes(status), `${operationId} lacks ${status}`)
        for (const header of Object.keys(headers)) {
          assert.ok((own + errors).includes(header), `${operationId} lacks ${header}`)
        }
        // Errors that most operations share are in a section of their own.
        for (const name of Object.keys(content?.['application/json'].examples ?? {})) {
          const places = ['errors', operationId].map((id) => `${id}${status} ${name}`)
          const isShown = titles.some((title) => places.includes(title))
          assert.ok(isShown, `no example of ${places}`)
        }
      }
    }
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      const own = await textOf(modelOf(name))
      for (const member of Object.keys(schema.properties ?? {})) {
        assert.ok(own.includes(member), `${name} lacks ${member}`)
      }
    }

    // Models are closed, and a link opens its model.
    const member = (model: string) =>
      page.locator(modelOf(model)).locator('dt').getByText('session_id')
    await member('ItemResponse').waitFor()
    assert.equal(await member('ItemListResponse').isVisible(), false)
    await page.getByRole('link', { name: 'ItemListResponse', exact: true }).first().press('Enter')
    await member('ItemListResponse').waitFor()
    assert.equal(await page.getByText('The caller').isVisible(), false)
    await page.evaluate('void (location.hash = "model-TokenPayload")')
    await page.locator(modelOf('TokenPayload')).getByText('The caller').waitFor()
  })

  test('the API page shows create first, and the examples of the status that is chosen in the list or by its tab', async () => {
    const page = await open()
    const { examples } = (await servedDocument(new URL(origin))).components
    const titles = await page.evaluate<string>(
      '[...document.querySelectorAll("main h2")].map((title) => title.textContent).join()',
    )
    assert.equal(
      titles,
      'Item Store Service,Authentication,Create an item,Read an item,List all items,Replace an item,Delete an item,Check the health,Errors,Models',
    )
    const section = page.locator('#createItem')
    const panel = section.locator('.examples')
    const example = (title: string) => panel.getByRole('figure', { name: title, exact: true })
    const textOf = (name: string) => JSON.stringify(examples[name]?.value, null, 2)
    const shows = async (status: string, name: string) => {
      await example(`${status} ${name}`).waitFor()
      assert.equal(await example(`${status} ${name}`).textContent(), textOf(name))
    }
    await shows('201', 'createdItem')
    const tab = (text: string) => section.getByRole('radio', { name: text, exact: true })
    assert.equal(await tab('401').count(), 0)
    await section.locator('.response > summary').nth(1).press('Enter')
    await shows('409', 'IDEMPOTENCY_CONFLICT')
    await section.locator('label:has(:checked)').getByText('409').waitFor()
    await example('201 createdItem').waitFor({ state: 'hidden' })
    await tab('409').press('ArrowRight')
    await shows('413', 'PAYLOAD_TOO_LARGE')
    const rows = section.locator('.response[open]')
    await rows.locator('summary').getByText('PAYLOAD_TOO_LARGE').waitFor()
    assert.match((await rows.first().textContent()) ?? '', /ItemResponse.*session_id.*data Item/)
    await page.evaluate(
      'navigator.clipboard.writeText = async (text) => { globalThis.copied = text }; 0',
    )
    await panel.getByRole('button', { name: 'Copy body' }).press('Enter')
    await panel.getByText('Copied').waitFor()
    assert.equal(await page.evaluate('copied'), textOf('PAYLOAD_TOO_LARGE'))
    await page.locator('#deleteItem .examples').getByText('The response has no body.').waitFor()
    const project = 'project_id string · at least 1 character · or null'
    assert.ok((await section.locator('dl').first().textContent())?.includes(project))
  })

  test('on a phone, contents are a menu, a response opens with its examples inside, and controls fit fingers and iOS', async () => {
    const page = await open('/docs', { viewport: screens.phone })
    const marks = (title: string) =>
      until(`the mark on ${title}`, () =>
        page.evaluate<boolean>(
          `document.querySelector(".contents [aria-current]").textContent === '${title}'`,
        ),
      )
    const menu = page.getByRole('button', { name: /^Contents: / })
    const link = page.getByRole('link', { name: 'Replace an item PUT' })
    await menu.press('Enter')
    await link.waitFor()
    await assertUsable(page)
    await page.keyboard.press('Escape')
    await menu.press('Enter')
    await link.press('Enter')
    await link.waitFor({ state: 'hidden' })
    await marks('Replace an itemPUT')
    await page.getByRole('button', { name: 'Contents: Replace an item' }).waitFor()
    await page.evaluate('document.getElementById("models").scrollIntoView()')
    await marks('Models')
    const bar = await page.evaluate('document.querySelector("header").getBoundingClientRect().top')
    assert.equal(bar, 0)

    const section = page.locator('#createItem')
    const example = section.getByRole('figure', { name: '422 VALIDATION_ERROR' })
    assert.equal(await example.count(), 0)
    await section.locator('.response > summary').getByText('VALIDATION_ERROR').click()
    await example.waitFor()
    await section.getByRole('figure', { name: '201 createdItem' }).waitFor()
    assert.equal(await section.getByRole('radio', { name: '422' }).count(), 0)
    await formOf(page, 'createItem')
    const sizes = await page.evaluate<{ small: string[]; fields: string[] }>(`({
      small: [...document.querySelectorAll('button, summary, .choice label')]
        .filter((each) => each.checkVisibility() && each.offsetHeight < 40)
        .map((each) => each.textContent),
      fields: [...document.querySelectorAll('input:not([type=radio]), textarea, .editor pre')]
        .map((each) => getComputedStyle(each).fontSize)
    })`)
    assert.deepEqual(sizes.small, [])
    assert.deepEqual([...new Set(sizes.fields)], ['16px'])
  })

  test('with a token that was pasted once, forms create, read, replace and delete an exact item', async () => {
    const page = await open()
    const create = await formOf(page, 'createItem')
    await page.locator('button.chip').getByText('Enter a token').waitFor()
    await create.section.getByText('No token is set.').waitFor()
    await create.section.getByRole('button', { name: 'Enter a token' }).press('Enter')
    await page.getByLabel('Token', { exact: true }).press('Enter')
    await create.send()
    assert.match(await create.answered(401), /"MISSING_TOKEN".*www-authenticate: Bearer/s)

    const expired = service.mint({ sub: 'a', exp: inSeconds(-10) })
    await enterToken(page, expired)
    await create.send()
    await create.section.locator('.received').getByText('"TOKEN_EXPIRED"').waitFor()
    await enterToken(page, ` ${token} `)
    assert.ok((await create.body.inputValue()).includes('"title": "Buy milk"'))
    await create.body.fill(`{"project_id": "demo", "data": ${data}}`)
    await create.send()
    const created = await create.answered(201)
    assert.equal(await create.section.getByText('No token is set.').count(), 0)
    const examples = create.section.getByRole('figure', { name: /^\d\d\d/ })
    assert.equal(await examples.count(), 0) // the response replaces the examples
    const [, id = ''] = /location: \/api\/v1\/items\/([0-9a-f-]{36})/.exec(created) ?? []
    assert.match(created, /"n": 12345678901234567890,\n/)
    assert.match(created, /"p": 1\.0,\n.*"b": 1,\n.*"a": 1e400,\n.*"__proto__": -0\n/s)
    const item = `{"id":"${id}","project_id":"demo",${data.slice(1)}`
    await create.section.getByLabel('Indented').uncheck()
    assert.ok((await create.shown.textContent())?.endsWith(`"data":${item}}`))

    // The forms of the other operations now contain the id of the new item.
    const read = await formOf(page, 'readItem')
    await read.send()
    await read.answered(200)

    const replace = await formOf(page, 'replaceItem')
    await replace.body.fill('{"data": {"a": 1,}}')
    await replace.send()
    assert.match(await replace.answered(422), /line 1, column 18.*VALIDATION_ERROR/s)
    await replace.body.fill('{"data": {"x": 0.10}}')
    await replace.body.press('Control+Enter')
    await replace.answered(200)
    await replace.section.getByLabel('Indented').uncheck()
    assert.match((await replace.shown.textContent()) ?? '', /"project_id":null,"x": 0\.10\}\}$/)

    const remove = await formOf(page, 'deleteItem')
    await remove.send()
    assert.match(await remove.answered(204), /The response has no body.*x-session-id: /s)
    await read.send()
    assert.match(await read.answered(404), new RegExp(`Item ${id} not found`))
  })

  test('a token after #token= is removed from the address at once, and is not logged', async () => {
    const page = await open(`/docs#token=${token}`)
    assert.equal(page.url(), `${origin}/docs`)
    assert.equal(await tokenOf(page), token)
    assert.equal(await page.evaluate('history.length'), 2) // the first entry is the browser's empty page
    await page.locator('#createItem').getByLabel('Python', { exact: true }).check()
    await page.reload()
    assert.equal(await tokenOf(page), token)
    const code = page.getByRole('figure', { name: 'Create an item in Python' }) // the language is kept
    assert.match((await code.textContent()) ?? '', /requests\.post/)
    assert.ok(!(await page.locator('main').textContent())?.includes(token))
    await enterToken(page, '')
    await page.reload()
    assert.equal(await tokenOf(page), '')

    await page.evaluate(`void (location.hash = 'token=${token}')`)
    await until('the token in its field', async () => {
      const isRead = await page.evaluate<boolean>('location.hash === ""')
      return isRead && (await tokenOf(page)) === token
    })
    const kept = await page.evaluate('JSON.stringify(localStorage)')
    assert.equal(kept, '{"item-store-language":"Python"}')
    assert.ok(!JSON.stringify(service.log).includes(token))
  })

  test('the start of a very long response is shown, and a download has all of the response', async () => {
    const large = await ownService()
    const text = 'x'.repeat(400_000)
    await large.call('POST', '/items', { data: { text } })
    const address = `${large.baseUrl.origin}/docs#token=${large.validToken()}`
    const page = await openPage(address)
    const { section, send, answered, shown } = await formOf(page, 'listItems')
    await section.waitFor()
    await send()
    assert.match(await answered(200), /The first 100,000 of 400,\d\d\d characters/)
    assert.ok(((await shown.textContent()) ?? '').length < 101_000)
    const saved = page.waitForEvent('download')
    await section.getByRole('button', { name: 'Download' }).click()
    const download = await saved
    assert.equal(download.suggestedFilename(), 'listItems.json')
    const whole = readFileSync(await download.path(), 'utf8')
    assert.ok(whole.startsWith('{"session_id":"') && whole.endsWith(`"text":"${text}"}]}`))
  })

  test('the API page explains input that a browser cannot send, and stops a slow request', async () => {
    const page = await open()
    const requests: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/api/')) requests.push(request.url())
    })
    const { section, send, outcome } = await formOf(page, 'readItem')
    const id = section.getByLabel('item_id', { exact: true })
    await id.fill('..')
    await send()
    const problem = 'A browser cannot send this: half a character, or a path of only dots.'
    await outcome.getByText(problem).waitFor()
    await id.fill('...')
    await enterToken(page, 'token\u20ac')
    await send()
    await outcome.getByText(/^The browser got no response: .*code point/).waitFor()
    // A lone surrogate cannot be typed, so a script enters it.
    await page.evaluate(`{
      const input = document.querySelector('#readItem [name=item_id]')
      input.value = 'a\\ud800'
      input.dispatchEvent(new Event('input', { bubbles: true }))
    }`)
    await send()
    await outcome.getByText(problem).waitFor()
    assert.deepEqual(requests, [])
    await id.fill('...')
    await enterToken(page, 'wrong')
    await send()
    await outcome.getByText('401 Unauthorized').waitFor()
    assert.deepEqual(requests, [`${origin}/api/v1/items/...`])

    await page.evaluate(`void (globalThis.fetch = (url, { signal }) => new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    }))`)
    await section.getByRole('button', { name: 'Send' }).dblclick()
    await section.getByRole('button', { name: 'Stop' }).waitFor()
    await section.getByLabel('item_id', { exact: true }).press('Control+Enter')
    await section.getByRole('button', { name: 'Stop' }).click()
    await outcome.getByText('Stopped.', { exact: true }).waitFor()
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Send')
    assert.equal(await section.getByRole('button', { name: 'Stop' }).count(), 0)
  })

  test('the API page says what cannot be loaded, and loads it at the next click', async () => {
    let cut = '/openapi.json'
    const page = await openPage(`${origin}/docs`, {
      expected: /net::ERR_FAILED/,
      isCut: ({ pathname }) => pathname.includes(cut),
    })
    const problem = 'cannot be shown: TypeError: Failed to fetch'
    await page.getByRole('status').getByText(problem).waitFor()
    await assertAccessible(page)
    cut = '/health'
    await page.getByRole('link', { name: 'Try again' }).click()
    const { send, outcome, answered } = await formOf(page, 'checkHealth')
    await send()
    await outcome.getByText('The browser got no response: Failed to fetch').waitFor()
    cut = 'nothing'
    await send()
    assert.match(await answered(200), /"status": "healthy"/)
  })

  test('the keyboard alone can skip to the content, enter a token and send a request', async () => {
    const page = await open()
    const focused = () =>
      page.evaluate<string>('document.activeElement.textContent || document.activeElement.name')
    await page.keyboard.press('Tab')
    assert.equal(await focused(), 'Skip to the content')
    await page.locator('button.chip').press('Enter')
    await until('the focus in the field', async () => (await focused()) === 'token')
    await page.keyboard.type(token)
    await page.keyboard.press('Enter')
    await until('the focus on the button', async () => /^Token of/.test(await focused()))
    const section = page.locator('#listItems')
    await section.getByRole('button', { name: 'Try it' }).press('Enter')
    await section.getByRole('button', { name: 'Send' }).waitFor()
    assert.equal(await focused(), 'Show the code')
    await section.getByRole('button', { name: 'Send' }).press('Enter')
    await section.getByText('200 OK').waitFor()
  })

  for (const [screen, viewport] of Object.entries(screens)) {
    test(`the API page on a ${screen} screen, light and dark, passes axe-core and fits`, async () => {
      const page = await open(`/docs#token=${token}`, { viewport })
      await assertFits(page)
      const { body, send, answered } = await formOf(page, 'createItem')
      await body.fill(layOut(`{"project_id": "demo", "data": ${data}}`))
      await send()
      await answered(201)
      await page.locator('#createItem').getByRole('button', { name: 'Show the code' }).click()
      const shown = screen === 'wide' ? '#createItem' : '#createItem .calls'
      await page.evaluate(`document.querySelector('${shown}').scrollIntoView()`)
      await takePictures(page, `api-page-${screen}`)
      await formOf(page, 'replaceItem')

      await page.evaluate(
        'document.querySelectorAll("details").forEach((each) => { each.open = true })',
      )
      await assertUsable(page)
    })
  }
})
