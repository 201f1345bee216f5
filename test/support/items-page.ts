/** The items page, opened and used as a person would. */

import { type Locator, useBrowser } from './chromium.js'
import { type GuardedPage, type GuardOptions, openGuarded } from './guarded-page.js'
import type { OwnService } from './own-service.js'

export interface ItemsPage extends GuardedPage {
  /** Where the JSON of an item is typed. */
  readonly editor: Locator
  /** The dialog with the editor. */
  readonly dialog: Locator
  /** Clicks a button: of those with this name, the topmost. */
  choose(button: string): Promise<void>
  /** A value as it is shown in the table. */
  cell(text: string): Locator
  /** Waits until a text is in the page. */
  sees(text: string | RegExp): Promise<void>
  /** Waits until the list has as many items as that. */
  counts(text: string): Promise<void>
}

/** To be called outside of tests. @returns opens the page of a service in a browser of the file. */
export function useItemsPage(): (
  service: OwnService,
  options?: GuardOptions & { token?: string },
) => Promise<ItemsPage> {
  const newContext = useBrowser()
  return async function open(service, { token = service.validToken(), ...options } = {}) {
    const hash = token && `#token=${token}`
    const page = await openGuarded(newContext, `${service.baseUrl.origin}/${hash}`, options)
    const parts = {
      editor: page.getByRole('textbox', { name: 'JSON of the item' }),
      dialog: page.getByRole('dialog', { name: /^(Edit|New) item$/ }),
      choose: (name: string) => page.getByRole('button', { name, exact: true }).last().click(),
      cell: (name: string) => page.getByRole('gridcell', { name, exact: true }),
      sees: (text: string | RegExp) => page.getByText(text).first().waitFor(),
      counts: (text: string) => page.locator('.status').getByText(text).first().waitFor(),
    }
    await page.getByRole('heading', { name: 'Items' }).waitFor()
    return Object.assign(page, parts)
  }
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

/** The item's own JSON text, as a program reads it; `undefined` when there is none. */
export async function readBack(service: OwnService, id: string): Promise<string | undefined> {
  const { text } = await service.request('GET', `/items/${id}`, { token: service.validToken() })
  return /"data":(.*)\}$/s.exec(text)?.[1]
}
