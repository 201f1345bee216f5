/** The items page, used as a person would. */

import type { Locator, Page } from './chromium.js'
import { type GuardOptions, useGuardedPages } from './guarded-page.js'
import { type OwnService, ownService } from './own-service.js'
import { until } from './until.js'

export interface ItemsPage extends Page {
  /** The field for the JSON of an item. */
  readonly editor: Locator
  /** The dialog with the editor. */
  readonly dialog: Locator
  /** Clicks the topmost button with this name. */
  choose(button: string): Promise<void>
  /** Chooses from the menu of the toolbar. */
  chooseMore(button: string): Promise<void>
  /** A value as it is shown in the table. */
  cell(text: string): Locator
  /** Opens the item that has a value. */
  open(text: string): Promise<void>
  /** Waits until a text is in the page. */
  sees(text: string | RegExp): Promise<void>
  /** Waits until the list has this many items. */
  counts(text: string): Promise<void>
  /** Chooses a file with this text to be imported. */
  openFile(name: string, text: string): Promise<void>
  /** Saves what is in the editor, and waits until that is closed. */
  save(): Promise<void>
  /** Waits until an element that matches a selector, by default the list, has the focus. */
  hasFocus(selector?: string): Promise<void>
  /** Holds requests back from now on, or those with one method. @returns lets them go. */
  hold(method?: string): Promise<() => Promise<void>>
  /** Takes the place of the clipboard. @returns reads what was last copied. */
  watchClipboard(): Promise<() => Promise<string>>
}

type Options = GuardOptions & { token?: string }

/** Call it outside of tests. The pages are opened in the browser of the file. */
export function useItemsPage() {
  const openPage = useGuardedPages()
  /** Opens the page of a service. */
  async function openItems(
    service: OwnService,
    { token = service.validToken(), ...options }: Options = {},
  ): Promise<ItemsPage> {
    const hash = token && `#token=${token}`
    const page = await openPage(`${service.baseUrl.origin}/${hash}`, options)
    const cell = (text: string) => {
      const escaped = text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
      // On a card, the name of the member comes before its value.
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
        await page.keyboard.press('e')
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
  /** Opens the page of a service that has such items, given as JSON texts; with their ids. */
  async function openWith(items: readonly string[], options?: Options) {
    const { own, ids } = await serviceWith(...items)
    return { own, ids, page: await openItems(own, options) }
  }
  return { openItems, openWith }
}

/** A service with the items page, and items that programs have created from JSON texts; with their ids. */
export async function serviceWith(...items: string[]) {
  const own = await ownService({ CONSOLE: 'on' })
  const ids: string[] = []
  for (const data of items) ids.push(await createdBy(own, data))
  return { own, ids }
}

/** Creates an item as a program would. @param data JSON text. @returns its id. */
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

/** Replaces an item as a program would. @param data JSON text. */
export async function replacedBy(service: OwnService, id: string, data: string): Promise<void> {
  const options = { token: service.validToken(), body: `{"data":${data}}` }
  await service.request('PUT', `/items/${id}`, options)
}

/** The JSON text of an item, as a program reads it; `undefined` if there is none. */
export async function readBack(service: OwnService, id: string): Promise<string | undefined> {
  const { text } = await service.request('GET', `/items/${id}`, { token: service.validToken() })
  return /"data":(.*)\}$/s.exec(text)?.[1]
}
