/** The items page in Chromium: an item beside the list, new items, the head line, and how columns fit. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { expiryOf, subjectOf } from '../../../pages/shared/claims.js'
import { inSeconds } from '../../conformance/tokens.js'
import { inChromium } from '../../support/chromium.js'
import { assertAccessible, assertFits, inEachScheme, screens } from '../../support/guarded-page.js'
import { createdBy, type ItemsPage, readBack, useItemsPage } from '../../support/items-page.js'
import { ownService } from '../../support/own-service.js'
import { until } from '../../support/until.js'

const openItems = useItemsPage()

async function withItems(...texts: string[]) {
  const service = await ownService({ CONSOLE: 'on' })
  const ids: string[] = []
  for (const text of texts) ids.push(await createdBy(service, text))
  return { service, ids }
}

async function hasInEditor(page: ItemsPage, text: string): Promise<void> {
  await until(`${text} in the editor`, async () =>
    (await page.editor.textContent())?.includes(text),
  )
}

async function focusIsIn(page: ItemsPage, selector: string): Promise<void> {
  await until(`the focus in ${selector}`, () =>
    page.evaluate<boolean>(`document.activeElement.matches('${selector}')`),
  )
}

async function showsHeads(page: ItemsPage, ...expected: string[]): Promise<void> {
  const heads = () =>
    page.evaluate<string[]>(
      '[...document.querySelectorAll("th button")].map((head) => head.textContent)',
    )
  await until(`${expected}`, async () => `${await heads()}` === `${expected}`)
}

describe('an item beside the list', inChromium, () => {
  test('follows the active row, and goes to the next one by key', async () => {
    const { service, ids } = await withItems('{"n":"one"}', '{"n":"two"}', '{"n":"three"}')
    const page = await openItems(service)
    await page.open('"one"')
    await focusIsIn(page, '.editor')
    await page.keyboard.press('Alt+ArrowDown')
    await hasInEditor(page, '"two"')
    await focusIsIn(page, '.editor')
    await page.locator('tr.active').getByText('two').waitFor()
    await page.keyboard.press('Alt+ArrowUp')
    await hasInEditor(page, '"one"')
    await page.getByRole('button', { name: 'Next row' }).click()
    await hasInEditor(page, '"two"')

    // The list stays usable, and keeps the focus.
    await page.cell('"three"').click()
    await hasInEditor(page, '"three"')
    await focusIsIn(page, '[role=grid]')
    await page.keyboard.press('ArrowUp')
    await hasInEditor(page, '"two"')
    await focusIsIn(page, '[role=grid]')
    await page.keyboard.press('e')
    await focusIsIn(page, '.editor')
    await inEachScheme(page, () => assertAccessible(page))

    // What is typed stays when another row is active, and is not lost without a question.
    await page.editor.fill('{"n":"typed"}')
    await page.cell('"three"').click()
    await hasInEditor(page, '"typed"')
    await page.keyboard.press('e')
    const question = page.getByRole('dialog', { name: 'Discard your changes?' })
    await question.waitFor()
    await page.choose('Cancel')
    await question.waitFor({ state: 'detached' })
    await page.editor.focus()
    await page.keyboard.press('Control+s')
    await page.dialog.waitFor({ state: 'detached' })
    assert.match((await readBack(service, ids[1] ?? '')) ?? '', /"n":"typed"/)

    await page.open('"one"')
    await page.editor.fill('{"n":"lost"}')
    await page.keyboard.press('Alt+ArrowDown')
    await question.waitFor()
    await page.choose('Discard')
    await hasInEditor(page, '"typed"')
    await page.keyboard.press('Escape')
    await page.dialog.waitFor({ state: 'detached' })
    await focusIsIn(page, '[role=grid]')
    assert.match((await readBack(service, ids[0] ?? '')) ?? '', /"n":"one"/)
  })

  test('a value that is saved in its cell is in the editor, too', async () => {
    const { service } = await withItems('{"n":"one"}')
    const page = await openItems(service)
    await page.open('"one"')
    await page.cell('"one"').dblclick()
    await page.getByRole('textbox', { name: 'n, text' }).fill('other')
    await page.keyboard.press('Enter')
    await hasInEditor(page, '"other"')
    assert.equal(await page.getByText('changed elsewhere').count(), 0)
  })

  test('fills the screen of a phone, and the keys of other controls are not there', async () => {
    const { service } = await withItems('{"name":"one","price":2}', '{"price":3}')
    const page = await openItems(service, { viewport: screens.phone })
    await page.open('name: "one"')
    await page.editor.waitFor()
    const size = await page.evaluate<number[]>(
      '(({ width, height }) => [width, height])(document.querySelector(".panel").getBoundingClientRect())',
    )
    assert.deepEqual(size, [screens.phone.width, screens.phone.height])
    await assertFits(page)
    await inEachScheme(page, () => assertAccessible(page))
    await page.choose('Close')
    assert.ok(!(await page.getByRole('button', { name: 'Shortcuts' }).isVisible()))

    // Cards are sorted by a menu.
    await page.getByRole('combobox', { name: 'Sort by' }).selectOption('price ↓')
    await page.locator('tbody tr').first().getByText('3', { exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Sort by' }).selectOption('price ↑')
    await page.locator('tbody tr').first().getByText('one', { exact: true }).waitFor()
  })

  test('a new item has the members that most have, and the cursor in the first value', async () => {
    const { service } = await withItems('{"name":"a","n":1.5,"tags":[1]}', '{"name":"b","n":2}')
    const page = await openItems(service)
    await page.counts('2 items')
    await page.keyboard.press('n')
    await focusIsIn(page, '.editor')
    await hasInEditor(page, '"n": 0')
    await page.keyboard.type('typed')
    await page.choose('Save')
    await page.dialog.waitFor({ state: 'detached' })
    const { text } = await service.call('GET', '/items')
    assert.ok(text.includes('"name": "typed",\n  "n": 0}'), text)
  })
})

describe('columns', inChromium, () => {
  test('stand still when an item is added, and are in the order of the items', async () => {
    const { service } = await withItems('{"name":"a","price":1,"code":"x"}', '{"price":2}')
    const page = await openItems(service)
    const first = ['id', 'project_id', 'name', 'price', 'code']
    await showsHeads(page, ...first)
    for (let count = 0; count < 3; count += 1) await createdBy(service, '{"code":"only","new":1}')
    await page.counts('5 items')
    await showsHeads(page, ...first, 'new')
    // Not even when the first item has another order.
    const { text } = await service.call('GET', '/items')
    const [, id] = /"id":"([^"]+)"/.exec(text) ?? []
    await service.call('DELETE', `/items/${id}`)
    await page.counts('4 items')
    await showsHeads(page, ...first.filter((name) => name !== 'name'), 'new')
  })

  test('show what fits, and a head counts the others; the last one takes the rest', async () => {
    const names = Array.from({ length: 30 }, (_, number) => `m${number}`)
    const { service } = await withItems(`{${names.map((name) => `"${name}":"value"`)}}`)
    const page = await openItems(service)
    await page.cell('"value"').first().waitFor()
    const more = page.getByRole('button', { name: /^\+\d+ more columns$/ })
    const fits = () =>
      page.evaluate<number[]>(`(() => {
        const grid = document.querySelector('[role=grid]')
        const heads = [...document.querySelectorAll('th')].map((head) => head.getBoundingClientRect().right)
        return [grid.scrollWidth - grid.clientWidth, Math.round(grid.clientWidth - heads.at(-1))]
      })()`)
    assert.deepEqual(await fits(), [0, 0])
    const shown = (await page.getByRole('columnheader').count()) - 2 // without id and this head
    assert.equal(await more.textContent(), `+${31 - shown} more columns`)
    await assertAccessible(page)
    await more.click()
    await page.getByRole('dialog', { name: 'Columns' }).waitFor()
    await page.getByRole('checkbox', { name: 'm29' }).check()
    await page.choose('Close')
    assert.equal(await more.textContent(), `+${30 - shown} more columns`)
  })
})

describe('the head line', inChromium, () => {
  test('says whether the list is live, whose token it is, and when that expires', async () => {
    const { service } = await withItems('{}')
    let isCut = false
    const token = service.mint({ sub: 'maria', exp: inSeconds(7_100) })
    const page = await openItems(service, {
      token,
      isCut: ({ pathname }) => isCut && pathname.endsWith('/items'),
      expected: /ERR_FAILED/,
    })
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Token of maria, expires in 1 hour' }).waitFor()
    await page.getByText('Item Store', { exact: true }).waitFor()
    isCut = true
    await createdBy(service, '{}')
    await page.getByText('Not connected', { exact: true }).waitFor()
    await inEachScheme(page, () => assertAccessible(page))
  })

  test('what a token says, in words', () => {
    const tokenOf = (claims: object) =>
      `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`
    const cases = [
      [{ exp: 1_000 + 3 * 86_400 }, 'expires in 3 days'],
      [{ exp: 1_000 + 7_100 }, 'expires in 1 hour'],
      [{ exp: 1_059.5 }, 'expires within a minute'],
      [{ exp: 999 }, 'expired just now'],
      [{ exp: 1_000 - 86_400 }, 'expired 1 day ago'],
      [{ exp: 'soon' }, 'without expiry'],
    ] as const
    for (const [claims, words] of cases) assert.equal(expiryOf(tokenOf(claims), 1_000_000), words)
    assert.equal(subjectOf(tokenOf({ sub: 'Zoë <b>' })), 'Zoë <b>')
    for (const text of ['', 'x', 'x.x.x', tokenOf([]), `x.${btoa('null')}.x`]) {
      assert.deepEqual([subjectOf(text), expiryOf(text)], ['unknown', 'without expiry'])
    }
  })
})
