/** Helpers that use the items page as a person would. */

import assert from 'node:assert/strict'
import type { Locator, Page } from './chromium.js'
import { type GuardOptions, screens, useGuardedPages } from './guarded-page.js'
import { type OwnService, ownService } from './own-service.js'
import { until } from './process.js'

/** Extends a page with methods for what a person can do and see on the items page. */
function withHelpers(page: Page, isNarrow: boolean) {
  const cellName = (text: string) => {
    const escaped = text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    // In a card, the member's name comes before its value.
    return new RegExp(`^(\\w+: )?${escaped}$`)
  }
  const sent: string[] = []
  page.on('request', (request) => sent.push(`${request.method()} ${request.url()}`))
  const helpers = {
    sent, // method and URL of each request since the page has loaded
    changes: () => sent.filter((each) => !/^(?:GET|HEAD) /.test(each)).length,
    editor: page.getByRole('textbox', { name: 'JSON of the item' }),
    /** The panel with the JSON editor. Its ARIA role is `dialog`. */
    dialog: page.getByRole('dialog', { name: /^(Edit|New) item$/ }),
    field: page.locator('dialog.cell input'), // for a value in its table cell
    search: page.getByRole('searchbox'),
    project: page.getByRole('combobox', { name: 'Project' }),
    button: (name: string) => page.getByRole('button', { name, exact: true }),
    cell: (text: string) => page.getByRole('gridcell', { name: cellName(text) }),
    async press(...keys: string[]) {
      for (const key of keys) await page.keyboard.press(key)
    },
    /** Clicks the buttons with these names, one after another. If several have the same name, clicks the last. */
    async choose(...names: string[]) {
      for (const name of names) await helpers.button(name).last().click()
    },
    async chooseMore(name: string) {
      await helpers.choose('More')
      await page.locator('#more').getByRole('button', { name }).click()
    },
    showJson: () => page.getByLabel('JSON', { exact: true }).check(),
    async open(text: string) {
      await helpers.cell(text).first().click()
      if (!isNarrow) await page.keyboard.press('e') // a click on a card opens its item
    },
    async enter(text: string) {
      await helpers.field.fill(text)
      await helpers.field.press('Enter')
    },
    async useToken(token: string) {
      await page.getByRole('dialog').getByLabel('Token').fill(token)
      await helpers.choose('Use this token')
    },
    async save() {
      await helpers.choose('Save')
      await helpers.dialog.waitFor({ state: 'detached' })
    },
    openFile: (name: string, text: string) =>
      page
        .getByLabel('File')
        .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) }),
    async sees(...texts: (string | RegExp)[]) {
      for (const text of texts) await page.getByText(text).first().waitFor()
    },
    warns: (text: string | RegExp) => page.getByRole('alert').getByText(text).waitFor(),
    counts: (text: string) => page.locator('.status').getByText(text, { exact: true }).waitFor(),
    async asks(title: string) {
      const question = page.getByRole('dialog', { name: title })
      await question.waitFor()
      return question
    },
    closes: () => page.getByRole('dialog').first().waitFor({ state: 'detached' }),
    /** Waits until the editor has this text, without its line breaks. */
    holds: (text: string) =>
      until(
        `only ${text} in the editor`,
        async () => (await helpers.editor.textContent()) === text,
      ),
    hasInEditor: (text: string) =>
      until(`${text} in the editor`, async () =>
        (await helpers.editor.textContent())?.includes(text),
      ),
    isActive: (text: string) =>
      page
        .locator('tr.active')
        .getByRole('gridcell', { name: cellName(text) })
        .waitFor(),
    hasFocus: (selector = '[role=grid]') =>
      until(`the focus on ${selector}`, () =>
        page.evaluate<boolean>(`document.activeElement.matches('${selector}')`),
      ),
    /** @param name label or text of the element. */
    hasFocusOn: (name: string) =>
      until(`the focus on ${name}`, async () => {
        const focused = 'document.activeElement'
        const own = `${focused}.ariaLabel ?? ${focused}.textContent.trim()`
        return (await page.evaluate<string>(own)) === name
      }),
    /** @param expression JavaScript that is evaluated with each selected element as `each`. */
    all: <T>(selector: string, expression: string) =>
      page.evaluate<T[]>(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => ${expression})`,
      ),
    async boxOf(element: Locator) {
      const { x, y, width } = (await element.boundingBox()) ?? assert.fail('it is not visible')
      return { left: x, right: x + width, top: y, width }
    },
    topOfRows: () =>
      page.evaluate<number>('document.querySelector("tbody").getBoundingClientRect().top'),
    /** @param response JavaScript expression for the response. If its value is falsy, the real service responds. */
    async respond(method: string, response: string) {
      await page.evaluate(`{
        globalThis.realFetch ??= fetch
        globalThis.fetch = async (url, init) =>
          (init.method === '${method}' && (${response})) || realFetch(url, init)
      }`)
    },
    /** @param when JavaScript condition for a request. */
    refuse(method: string, status: number, { code = 'X', detail = 'no luck', when = 'true' } = {}) {
      const body = JSON.stringify({ detail: { detail, error_code: code, session_id: 'x' } })
      return helpers.respond(method, `${when} && new Response('${body}', { status: ${status} })`)
    },
    /** Holds back requests with the given method and end of the path (by default, all). Returns a function that releases them. */
    async hold(method?: string, end = '') {
      await page.evaluate(`{
        const { fetch } = globalThis
        const released = new Promise((resolve) => { globalThis.release = resolve })
        globalThis.isHeld = false
        globalThis.fetch = async (url, init) => {
          if ((init.method === '${method}' || ${!method}) && url.endsWith('${end}')) {
            globalThis.isHeld = true
            await released
          }
          return await fetch(url, init)
        }
      }`)
      return () => page.evaluate<void>('release()')
    },
    async watchClipboard() {
      await page.evaluate(
        'navigator.clipboard.writeText = async (text) => { globalThis.copied = text }; 0',
      )
      return () => page.evaluate<string>('copied')
    },
  }
  return Object.assign(page, helpers)
}

export type ItemsPage = ReturnType<typeof withHelpers>

/** JSON text of an item's `data`, optionally with the JSON text of its `project_id`. */
type NewItem = string | readonly [data: string, project: string]

/** `address`: the fragment of the URL, with its `#`. */
type Options = GuardOptions & { token?: string; address?: string; env?: NodeJS.ProcessEnv }

/** Prepares a browser for all tests in a file. Call this function outside tests. */
export function useItemsPage() {
  const openPage = useGuardedPages()
  async function openItems(
    service: OwnService,
    { token = service.validToken(), address = '', ...options }: Options = {},
  ): Promise<ItemsPage> {
    const hash = token ? `${address || '#'}&token=${token}` : address
    const page = await openPage(`${service.baseUrl.origin}/${hash}`, options)
    await page.getByRole('heading', { name: 'Items', exact: true }).waitFor()
    return withHelpers(page, (options.viewport ?? screens.wide).width < 640)
  }
  async function openWith(items: readonly NewItem[], options: Options = {}) {
    const { own, ids, id } = await serviceWith(items, options.env)
    return { own, ids, id, page: await openItems(own, options) }
  }
  return { openItems, openWith }
}

/** Starts a service that stores `items`. The result's `id` is the first item's id. */
export async function serviceWith(items: readonly NewItem[], env?: NodeJS.ProcessEnv) {
  const own = await itemsService(env)
  const ids: string[] = []
  for (const item of items) {
    const [data, project] = typeof item === 'string' ? [item] : item
    ids.push(await own.create(data, project))
  }
  return { own, ids, id: ids[0] ?? '' }
}

export type ItemsService = Awaited<ReturnType<typeof itemsService>>

export async function itemsService(env: NodeJS.ProcessEnv = {}) {
  const own = await ownService({ CONSOLE: 'on', ...env })
  const send = async (method: string, path: string, body: string) =>
    (await own.request(method, path, { token: own.validToken(), body })).text
  return {
    ...own,
    /** @param data JSON text. @param project JSON text. @returns the id. */
    async create(data: string, project = 'null'): Promise<string> {
      const text = await send('POST', '/items', `{"project_id":${project},"data":${data}}`)
      return /"id":"([^"]+)"/.exec(text)?.[1] ?? ''
    },
    replace: (id: string | undefined, data: string) =>
      send('PUT', `/items/${id}`, `{"data":${data}}`),
    delete: (id: string | undefined) => own.call('DELETE', `/items/${id}`),
    /** Returns the JSON text of an item's `data`; empty if the item does not exist. */
    async read(id: string | undefined): Promise<string> {
      const { text } = await own.call('GET', `/items/${id}`)
      return /"data":(.*)\}$/s.exec(text)?.[1] ?? ''
    },
    list: async () => (await own.call('GET', '/items')).text,
  }
}
