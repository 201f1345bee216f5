/** Helpers that use the items page as a person would. */

import type { Locator, Page } from './chromium.js'
import { type GuardOptions, screens, useGuardedPages } from './guarded-page.js'
import { type OwnService, ownService } from './own-service.js'
import { until } from './until.js'

export interface ItemsPage extends Page {
  readonly editor: Locator
  /** The panel with the editor, which has the role of a dialog. */
  readonly dialog: Locator
  /** Clicks the last button with this name. */
  choose(button: string): Promise<void>
  chooseMore(button: string): Promise<void>
  cell(text: string): Locator
  /** Opens the editor for the first item that has a cell with this text. */
  open(text: string): Promise<void>
  sees(text: string | RegExp): Promise<void>
  /** Waits until the status line shows a text, such as `2 items`. */
  counts(text: string): Promise<void>
  openFile(name: string, text: string): Promise<void>
  save(): Promise<void>
  /** Waits until the list, or the element that matches a selector, has the focus. */
  hasFocus(selector?: string): Promise<void>
  /** Holds back requests, and returns a function that releases them. */
  hold(method?: string): Promise<() => Promise<void>>
  /** Returns a function that resolves to the most recently copied text. */
  watchClipboard(): Promise<() => Promise<string>>
}

type Options = GuardOptions & { token?: string }

/** Prepares the browser of a test file. Call this function outside of tests. */
export function useItemsPage() {
  const openPage = useGuardedPages()
  async function openItems(
    service: OwnService,
    { token = service.validToken(), ...options }: Options = {},
  ): Promise<ItemsPage> {
    const hash = token && `#token=${token}`
    const page = await openPage(`${service.baseUrl.origin}/${hash}`, options)
    const isNarrow = (options.viewport ?? screens.wide).width < 640
    const cell = (text: string) => {
      const escaped = text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
      // In a card, the name of the member comes before the value.
      return page.getByRole('gridcell', { name: new RegExp(`^(\\w+: )?${escaped}$`) })
    }
    const parts = {
      editor: page.getByRole('textbox', { name: 'JSON of the item' }),
      dialog: page.getByRole('dialog', { name: /^(Edit|New) item$/ }),
      choose: (name: string) => page.getByRole('button', { name, exact: true }).last().click(),
      async chooseMore(name: string) {
        await page.getByRole('button', { name: 'More', exact: true }).click()
        await page.locator('#more').getByRole('button', { name }).click()
      },
      cell,
      async open(name: string) {
        await cell(name).first().click()
        if (!isNarrow) await page.keyboard.press('e') // a click on a card opens its item
      },
      sees: (text: string | RegExp) => page.getByText(text).first().waitFor(),
      counts: (text: string) => page.locator('.status').getByText(text).first().waitFor(),
      openFile: (name: string, text: string) =>
        page
          .getByLabel('File')
          .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) }),
      async save() {
        await parts.choose('Save')
        await parts.dialog.waitFor({ state: 'detached' })
      },
      async hasFocus(selector = '[role=grid]') {
        await until(`the focus on ${selector}`, () =>
          page.evaluate<boolean>(`document.activeElement.matches('${selector}')`),
        )
      },
      async hold(method?: string) {
        await page.evaluate(`{
          const { fetch } = globalThis
          const released = new Promise((resolve) => { globalThis.release = resolve })
          globalThis.isHeld = false
          globalThis.fetch = async (url, init) => {
            if (init.method === '${method}' || ${!method}) {
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
    await page.getByRole('heading', { name: 'Items', exact: true }).waitFor()
    return Object.assign(page, parts)
  }
  /** @param items JSON texts of the items of a new service. */
  async function openWith(items: readonly string[], options?: Options) {
    const { own, ids } = await serviceWith(...items)
    return { own, ids, page: await openItems(own, options) }
  }
  return { openItems, openWith }
}

/** @param items JSON texts of the items of a new service. */
export async function serviceWith(...items: string[]) {
  const own = await ownService({ CONSOLE: 'on' })
  const ids: string[] = []
  for (const data of items) ids.push(await createdBy(own, data))
  return { own, ids }
}

/** @param data JSON text. @param project JSON text. @returns the id. */
export async function createdBy(
  service: OwnService,
  data: string,
  project = 'null',
): Promise<string> {
  const body = `{"project_id":${project},"data":${data}}`
  const { text } = await service.request('POST', '/items', { token: service.validToken(), body })
  const [, id = ''] = /"id":"([^"]+)"/.exec(text) ?? []
  return id
}

/** @param data JSON text of the new data. */
export async function replacedBy(service: OwnService, id: string, data: string): Promise<void> {
  const options = { token: service.validToken(), body: `{"data":${data}}` }
  await service.request('PUT', `/items/${id}`, options)
}

export async function readBack(service: OwnService, id: string): Promise<string | undefined> {
  const { text } = await service.request('GET', `/items/${id}`, { token: service.validToken() })
  return /"data":(.*)\}$/s.exec(text)?.[1]
}
