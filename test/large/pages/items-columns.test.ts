/** Tests of the items page's columns in Chromium: sort, widths, order, pins, filters, and cards on a narrow screen. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inChromium } from '../../support/chromium.js'
import { assertAccessible, assertUsable, screens } from '../../support/guarded-page.js'
import { createdBy, type ItemsPage, serviceWith, useItemsPage } from '../../support/items-page.js'
import { until } from '../../support/until.js'

const { openItems, openWith } = useItemsPage()

function heads(page: ItemsPage): Promise<string[]> {
  return page.evaluate(
    '[...document.querySelectorAll("th:not(.more) button")].map((head) => head.textContent)',
  )
}

async function showsHeads(page: ItemsPage, ...expected: string[]): Promise<void> {
  await until(`${expected}`, async () => `${await heads(page)}` === `${expected}`)
}

/** @param place position of the column, counted from 1. */
async function showsColumn(page: ItemsPage, place: number, ...expected: string[]): Promise<void> {
  const shown = () =>
    page.evaluate<string[]>(
      `[...document.querySelectorAll('tbody [aria-colindex="${place}"]')].map((cell) => cell.textContent)`,
    )
  await until(`${expected}`, async () => `${await shown()}` === `${expected}`)
}

function boxOf(page: ItemsPage, name: string): Promise<DOMRect> {
  return page.evaluate(
    `[...document.querySelectorAll('th')].find((head) => head.textContent === '${name}').getBoundingClientRect().toJSON()`,
  )
}

interface DOMRect {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly width: number
}

async function drag(page: ItemsPage, from: number, to: number, top: number): Promise<void> {
  await page.mouse.move(from, top + 10)
  await page.mouse.down()
  await page.mouse.move((from + to) / 2, top + 10)
  await page.mouse.move(to, top + 10)
  await page.mouse.up()
}

function button(page: ItemsPage, name: string) {
  return page.getByRole('columnheader').getByRole('button', { name: new RegExp(`^${name}\\b`) })
}

function focused(page: ItemsPage): Promise<string> {
  return page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent')
}

describe('the columns of the items page', inChromium, () => {
  test('columns keep their places when an item is added, and are in the order of the first items', async () => {
    const { own, page } = await openWith(['{"name":"a","price":1,"code":"x"}', '{"price":2}'])
    const first = ['id', 'project_id', 'name', 'price', 'code']
    await showsHeads(page, ...first)
    for (let count = 0; count < 3; count += 1) await createdBy(own, '{"code":"only","new":1}')
    await page.counts('5 items')
    await showsHeads(page, ...first, 'new')
    // Columns keep their places even if the item that determined their order is deleted.
    const { text } = await own.call('GET', '/items')
    const [, id] = /"id":"([^"]+)"/.exec(text) ?? []
    await own.call('DELETE', `/items/${id}`)
    await page.counts('4 items')
    await showsHeads(page, ...first.filter((name) => name !== 'name'), 'new')
  })

  test('as many columns as fit are shown, a head counts the others, and the last column fills the space', async () => {
    const names = Array.from({ length: 30 }, (_, number) => `m${number}`)
    const { own } = await serviceWith(
      `{${names.map((name) => `"${name}":"a value of some length"`)}}`,
    )
    const page = await openItems(own)
    await page.cell('"a value of some length"').first().waitFor()
    const more = page.getByRole('button', { name: /^\+\d+ more columns$/ })
    const fits = () =>
      page.evaluate<number[]>(`(() => {
        const grid = document.querySelector('[role=grid]')
        const heads = [...document.querySelectorAll('th')].map((head) => head.getBoundingClientRect().right)
        return [grid.scrollWidth - grid.clientWidth, Math.round(grid.clientWidth - heads.at(-1))]
      })()`)
    assert.deepEqual(await fits(), [0, 0])
    // All columns have the same width, except the last, which takes the remaining width.
    for (const width of [1120, 1200, screens.wide.width]) {
      await page.setViewportSize({ width, height: 800 })
      await until('the width', async () => (await page.evaluate<number>('innerWidth')) === width)
      await until('the columns', async () => `${await fits()}` === '0,0')
      const [usual = 0, last = 0] = await page.evaluate<number[]>(
        '[...document.querySelectorAll("th")].slice(-3, -1).map((head) => head.offsetWidth)',
      )
      const ratio = last / usual
      assert.ok(ratio > 0.99 && ratio < 2, `the last column is ${last} wide, not ${usual}`)
    }
    const shown = (await page.getByRole('columnheader').count()) - 2 // without `id` and the header that counts the rest
    assert.equal(await more.textContent(), `+${31 - shown} more columns`)
    await assertAccessible(page)
    await more.click()
    const dialog = page.getByRole('dialog', { name: 'Columns' })
    await dialog.waitFor()
    const size = await page.evaluate<number[]>(
      '(({ offsetWidth, offsetHeight }) => [offsetWidth, offsetHeight / innerHeight])(document.querySelector(".columns"))',
    )
    assert.ok(size[0] === 320 && (size[1] ?? 1) <= 0.6, `${size}`)
    await dialog.getByRole('searchbox').fill('M2')
    await until(
      'the found members',
      async () => (await dialog.getByRole('checkbox').count()) === 11,
    )
    await assertAccessible(page)
    await page.getByRole('checkbox', { name: 'm29' }).check()
    await page.choose('Close')
    assert.equal(await more.textContent(), `+${30 - shown} more columns`)
  })

  test('if not all columns fit, the last one lists the members that few items have, and no item moves a column', async () => {
    const members = (kind: string) =>
      Array.from({ length: 12 }, (_, at) => `"${kind}${at}":"${kind}"`)
    const { own } = await serviceWith()
    for (const kind of ['a', 'a', 'b', 'b']) {
      await createdBy(own, `{"name":"${kind}",${members(kind)}}`, `"${kind}"`)
    }
    const page = await openItems(own)
    const others = (kind: string) =>
      page.getByRole('gridcell', { name: new RegExp(`^${kind}0: ${kind} ${kind}1: ${kind} `) })
    await others('b').first().waitFor()
    await showsHeads(page, 'id', 'project_id', 'name')
    await page.getByRole('button', { name: '+24 more columns' }).waitFor()
    await assertUsable(page)
    for (let count = 0; count < 8; count += 1) await createdBy(own, `{${members('b')}}`, '"b"')
    await page.counts('12 items')
    await showsHeads(page, 'id', 'project_id', 'name')
    await others('b').nth(8).dblclick()
    await page.dialog.waitFor()
  })

  test('Shift with Enter on a column head adds the column as a further sort key', async () => {
    const { page } = await openWith([
      '{"kind":"b","n":1.0}',
      '{"kind":"a","n":12345678901234567890}',
      '{"kind":"a","n":12345678901234567891}',
      '{"kind":"b","n":1e1}',
    ])
    await page.counts('4 items')
    await button(page, 'kind').press('Enter')
    await button(page, 'n').press('Shift+Enter')
    await showsColumn(page, 4, '12345678901234567890', '12345678901234567891', '1.0', '1e1')
    await button(page, 'n').press('Shift+Enter')
    await showsColumn(page, 4, '12345678901234567891', '12345678901234567890', '1e1', '1.0')
    const sorted = await page.evaluate<string[]>(
      '[...document.querySelectorAll("th")].map((head) => head.ariaSort + head.innerText)',
    )
    assert.match(`${sorted}`, /,ascendingkind\s+key\s+1,descendingn\s+key\s+2$/)
    await assertUsable(page)
    await button(page, 'kind').press('Enter')
    await showsColumn(page, 4, '12345678901234567890', '12345678901234567891', '1.0', '1e1')
    assert.equal(await page.locator('th[aria-sort]').count(), 1)
  })

  test('while a long sort by a column runs, saved items are shown and deleted items are gone', async () => {
    const { page } = await openWith(['{"n":1,"t":"a"}', '{"n":2,"t":"b"}', '{"n":3,"t":"c"}'])
    await button(page, 'n').click()
    await page.locator('th[aria-sort]').waitFor()
    await page.getByRole('searchbox').fill('t')
    await page.cell('3').waitFor()
    // Makes search and sort pause after their first slice, and never continue.
    await page.evaluate(`{
      let now = performance.now()
      performance.now = () => (now += 100)
      globalThis.setTimeout = () => 0
    }`)
    for (const value of ['1.0', '0']) {
      await page.locator('tbody tr').first().locator('td.number').dblclick()
      const field = page.getByRole('dialog').getByRole('textbox')
      await field.fill(value)
      await field.press('Enter')
      await field.waitFor({ state: 'detached' })
      await page.cell(value).waitFor()
    }
    await page.keyboard.press('Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.cell('0').waitFor({ state: 'detached' })
  })

  test('the pointer and keys change and reset the width of a column', async () => {
    const { page } = await openWith(['{"title":"Some title","price":1}'])
    await page.cell('"Some title"').waitFor()
    const width = async (name: string) => (await boxOf(page, name)).width
    const [title, project] = [await width('title'), await width('project_id')]

    const { right, top } = await boxOf(page, 'title')
    await drag(page, right - 4, right + 76, top)
    await until('a wider column', async () => Math.abs((await width('title')) - title - 80) < 8)
    assert.equal(await width('project_id'), project)
    await page.mouse.move((await boxOf(page, 'title')).right - 4, top + 10)
    await page.mouse.dblclick((await boxOf(page, 'title')).right - 4, top + 10)
    await until('the former width', async () => (await width('title')) === title)
    assert.equal(await page.locator('th[aria-sort]').count(), 0)

    for (let count = 0; count < 3; count += 1) await button(page, 'title').press('Shift+ArrowRight')
    await until('a wider column', async () => (await width('title')) > title)
    for (let count = 0; count < 20; count += 1) await button(page, 'title').press('Shift+ArrowLeft')
    await until('a narrow column', async () => (await width('title')) < title / 2)
    assert.ok((await width('title')) > 30)
    await button(page, 'title').press('Backspace')
    await until('the former width', async () => (await width('title')) === title)
  })

  test('the pointer and keys move columns, but `id` stays the first column', async () => {
    const { page } = await openWith(['{"a":1,"b":2,"c":3}'])
    await showsHeads(page, 'id', 'project_id', 'a', 'b', 'c')
    await button(page, 'c').press('Control+ArrowLeft')
    await showsHeads(page, 'id', 'project_id', 'a', 'c', 'b')
    assert.equal(await focused(page), 'c')
    await button(page, 'project_id').press('Control+ArrowLeft')
    await button(page, 'id').press('Control+ArrowRight')
    await button(page, 'b').press('Control+ArrowRight')
    await showsHeads(page, 'id', 'project_id', 'a', 'c', 'b')

    const { left, top } = await boxOf(page, 'a')
    await drag(page, left + 12, (await boxOf(page, 'b')).left + 12, top)
    await showsHeads(page, 'id', 'project_id', 'c', 'b', 'a')
    await drag(page, (await boxOf(page, 'b')).left + 12, 20, top)
    await drag(page, 20, (await boxOf(page, 'b')).left + 12, top)
    await showsHeads(page, 'id', 'project_id', 'c', 'b', 'a')
    assert.equal(await page.locator('th[aria-sort]').count(), 0)
    await showsColumn(page, 3, '3')
  })

  test('columns are chosen, moved and pinned with the keyboard alone, and remembered for each project', async () => {
    const names = [0, 1, 2, 3, 4, 5, 6, 29].map((number) => `"m${number}":"secret ${number}"`)
    const { own } = await serviceWith()
    await createdBy(own, `{${names}}`, '"one"')
    const page = await openItems(own)
    const { keyboard } = page
    await page.cell('"secret 0"').waitFor()
    await page.getByRole('button', { name: 'Columns', exact: true }).press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.getByRole('checkbox', { name: 'm0', exact: true }).press(' ')
    await page.getByRole('checkbox', { name: 'project_id' }).press(' ')
    await page.getByRole('button', { name: 'Pin m29' }).press('Enter')
    await until('the kept focus', async () => (await focused(page)) === 'Pin m29')
    await page.getByRole('button', { name: 'Move m2 to the left' }).press('Enter')
    await until(
      'the focus on the button',
      async () => (await focused(page)) === 'Move m2 to the left',
    )
    await assertUsable(page)
    await keyboard.press('Escape')
    const chosen = ['id', 'm29', 'm2', 'm1', 'm3', 'm4', 'm5', 'm6'] as const
    await showsHeads(page, ...chosen)
    await button(page, 'm1').press('Shift+Enter')

    await page.reload()
    await showsHeads(page, ...chosen.slice(0, 3), 'm1', ...chosen.slice(4))
    for (const name of ['m1', 'm1']) {
      await page.getByRole('button', { name: 'Columns', exact: true }).press('Enter')
      await page.getByRole('checkbox', { name, exact: true }).press(' ')
      await keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await showsHeads(page, 'id', 'm29', 'm2', 'm3', 'm4', 'm5', 'm6', 'm1')
    await page.reload()
    await showsHeads(page, 'id', 'm29', 'm2', 'm3', 'm4', 'm5', 'm6', 'm1')
    const stored = await page.evaluate<string>('JSON.stringify(localStorage)')
    assert.match(stored, /m29/)
    assert.doesNotMatch(stored, /secret|eyJ/)

    for (let count = 0; count < 99; count += 1) {
      await button(page, 'm6').press('Shift+ArrowRight')
    }
    await page.evaluate('void (document.querySelector("[role=grid]").scrollLeft = 400)')
    const pins = () =>
      page.evaluate<boolean>(`{
        const [id, m29] = [...document.querySelectorAll('tbody [data-pinned]')].map((cell) => cell.getBoundingClientRect())
        Math.round(id.left) === 0 && Math.round(id.right) === Math.round(m29.left) &&
          document.elementFromPoint(m29.left + 12, m29.top + 12).textContent === 'secret 29'
      }`)
    await until('pinned columns in place', pins)
    await assertUsable(page)

    const project = page.getByRole('combobox', { name: 'Project' })
    await project.selectOption('one')
    await until('the default columns', async () => (await heads(page))[1] === 'project_id')
    await project.selectOption('All projects')
    await until('the chosen columns', async () => (await heads(page))[1] === 'm29')
    await page.getByRole('button', { name: 'Columns', exact: true }).press('Enter')
    await page.getByRole('button', { name: 'Default columns' }).press('Enter')
    await until('the default columns', async () => (await heads(page))[1] === 'project_id')
  })

  test('a tab neither undoes nor shows a change of columns in another tab', async () => {
    const { page } = await openWith(['{"a":2,"b":1}', '{"a":1,"b":2}'])
    await showsHeads(page, 'id', 'project_id', 'a', 'b')
    await page.evaluate('void (window.other = open(location.href))')
    const others = '[...other.document.querySelectorAll("th button")]'
    const otherHeads = () =>
      page.evaluate<string>(`${others}.map((head) => head.textContent).join()`)
    await until('the other tab', async () => (await otherHeads()) === 'id,project_id,a,b')

    await button(page, 'a').press('Enter')
    await showsHeads(page, 'id', 'project_id', 'a', 'b')
    await page.evaluate(`${others}.at(-1).dispatchEvent(
      new other.KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true, bubbles: true }),
    )`)
    const stored = () => page.evaluate<string>('localStorage.getItem("item-store-table:")')
    await until('the width that the other tab has stored', async () => /"b",/.test(await stored()))
    assert.match(await stored(), /"sort":\[\{[^}]*"name":"a"/)
    assert.equal(await otherHeads(), 'id,project_id,a,b')
    await page.evaluate('other.close()')
    await page.reload()
    await showsHeads(page, 'id', 'project_id', 'a', 'b')
    assert.match(await stored(), /"b",/)
  })

  test('of 190 columns, only the visible and the pinned columns are rendered', async () => {
    const names = Array.from({ length: 189 }, (_, number) => `"m${number}":${number}`)
    const { page } = await openWith([`{${names}}`])
    await page.cell('0').waitFor()
    const columns = { names: names.map((_, number) => `m${number}`), pinned: ['m3'] }
    await page.evaluate(`localStorage.setItem('item-store-table:', '${JSON.stringify(columns)}')`)
    await page.reload()
    await showsColumn(page, 2, '3')
    await page.evaluate('void (document.querySelector("[role=grid]").scrollLeft = 1e6)')
    await page.cell('188').waitFor()
    await page.cell('3').waitFor()
    assert.equal(await page.cell('40').count(), 0)
    assert.ok((await page.getByRole('gridcell').count()) < 40)
    await assertAccessible(page)
  })

  test('conditions filter items by their columns, with the keyboard alone', async () => {
    const { page } = await openWith([
      '{"n":1.0,"s":"One"}',
      '{"n":1}',
      '{"n":10}',
      '{"s":"ONE two"}',
    ])
    await page.counts('4 items')
    const filter = page.getByRole('button', { name: 'Filter' })
    await filter.press('Enter')
    await until('the focus on the member', async () => (await focused(page)) === 'Member')
    await page.getByLabel('Value').fill('1')
    await page.counts('4 items') // no member is chosen yet
    await page.getByLabel('Member').selectOption('n')
    await page.getByLabel('Test').selectOption('equals')
    await page.counts('2 of 4 items')
    await page.getByRole('button', { name: 'Filter 1', exact: true }).press('Enter')
    await until('the focus on the member', async () => (await focused(page)) === 'Member')
    await page.getByLabel('Test').selectOption('is absent')
    await page.counts('1 of 4 items')
    await page.cell('"ONE two"').waitFor()
    await page.getByRole('button', { name: 'Add condition' }).press('Enter')
    await page.getByLabel('Member').last().selectOption('s')
    await page.getByLabel('Value').fill('one')
    await page.counts('1 of 4 items')
    await page.getByLabel('Value').fill('three')
    await page.sees('No item is without n and has a s that contains “three”.')
    await assertUsable(page)
    await page.getByRole('button', { name: 'Remove this condition' }).first().press('Enter')
    await page.getByLabel('Value').fill('one')
    await page.counts('2 of 4 items')
    await page.getByLabel('Value').fill('three')
    await page.getByRole('button', { name: 'Show all items' }).press('Enter')
    await page.counts('4 items')
    assert.equal(await page.getByLabel('Member').count(), 0)
    await filter.press('Enter')
    await page.getByRole('button', { name: 'Remove this condition' }).press('Enter')
    await page.hasFocus()
  })

  test('on a narrow screen, each row is a card with up to three members of its item', async () => {
    const { own } = await serviceWith(
      '{"title":"Tea","price":4.0,"of":["a","b"],"more":true}',
      '{"title":"Mug","odd":{"x":1}}',
      '{"other":1}',
    )
    await createdBy(own, '{"title":"Pen"}', '"desk"')
    const page = await openItems(own, { viewport: screens.phone })
    await page.getByRole('gridcell', { name: 'title: "Tea"' }).waitFor()
    await page.getByRole('gridcell', { name: 'price: 4.0' }).waitFor()
    await page.getByRole('gridcell', { name: 'of: ["a","b"]' }).waitFor()
    await page.getByRole('gridcell', { name: 'odd: {"x":1}' }).waitFor()
    assert.equal(await page.getByRole('gridcell', { name: 'more' }).count(), 0)
    await page.locator('.project').getByText('desk').waitFor()
    const ends = await page.evaluate<number[]>(
      `[...document.querySelectorAll('th')].map((head) => head.getBoundingClientRect().right)`,
    )
    assert.ok(Math.max(...ends) <= screens.phone.width, `the heads end at ${ends}`)
    const above = await page.evaluate<number>(
      `document.querySelector('tbody').getBoundingClientRect().top`,
    )
    assert.ok(above < 0.24 * screens.phone.height, `the first card begins at ${above}`)
    const sizes = await page.evaluate<number[]>(
      `[...document.querySelectorAll(':is(.toolbar, .bar) :is(button, select, label, input[type=search])')].map((each) => each.offsetHeight).filter(Boolean)`,
    )
    assert.ok(Math.min(...sizes) >= 32, `the controls are ${sizes} high`)
    await page.choose('Filter')
    await assertUsable(page)
    for (const [order, first] of [
      ['title ↓', 'Tea'],
      ['title ↑', 'Mug'],
    ] as const) {
      await page.getByRole('combobox', { name: 'Sort by' }).selectOption(order)
      await page.locator('tbody tr').first().getByText(first, { exact: true }).waitFor()
    }
  })

  test('a click on an array, the key v, and a resting pointer show the whole value of a cell', async () => {
    const long = `${'long '.repeat(99)}end`
    const { page } = await openWith([
      `{"of":[{"n":1.0},12345678901234567890],"text":"${long}","short":"x"}`,
    ])
    const copied = await page.watchClipboard()
    const peek = page.getByRole('dialog', { name: /^Value of/ })
    const shown = async () => await peek.locator('pre').textContent()
    const isGone = () => peek.waitFor({ state: 'detached' })
    await page.getByText('[{"n":1.0},12345678901234567890]').click()
    await peek.waitFor()
    assert.equal(await shown(), '[\n  {\n    "n": 1.0\n  },\n  12345678901234567890\n]')
    await assertUsable(page)
    await peek.getByRole('button').click()
    assert.equal(await copied(), '[{"n":1.0},12345678901234567890]')
    await page.keyboard.press('Escape')
    await isGone()

    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('v')
    await peek.waitFor()
    assert.equal(await shown(), long)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await until('the copied value', async () => (await copied()) === long)
    await page.keyboard.press('Escape')
    await isGone()
    await page.hasFocus()

    const at = (text: string) =>
      page.evaluate<DOMRect>(
        `[...document.querySelectorAll('td')].find((cell) => cell.textContent.includes('${text}')).getBoundingClientRect().toJSON()`,
      )
    // The id, which is in the first column, is truncated as well.
    const id = await page.locator('td .open').textContent()
    const cellOfId = await at(id ?? '')
    await page.mouse.move(cellOfId.left + 40, cellOfId.top + 10)
    await page.getByRole('dialog', { name: 'Value of id' }).waitFor()
    assert.equal(await shown(), id)
    await page.mouse.move(cellOfId.left + 40, 5)
    await isGone()
    await page.keyboard.press('Home')
    for (let count = 0; count < 9; count += 1) await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('v')
    await page.getByRole('button', { name: 'Copy value' }).press('Enter')
    await until('the copied value', async () => (await copied()) === id)
    await page.keyboard.press('Escape')
    await isGone()

    const cell = await at('long')
    await page.mouse.move(cell.left + 20, cell.top + 10)
    await page.getByRole('dialog', { name: 'Value of text' }).waitFor()
    await page.mouse.move(cell.left + 40, cell.top + 50) // the pointer can reach the popover
    assert.equal(await peek.count(), 1)
    await page.hasFocus()
    await page.mouse.move(cell.left + 20, 5)
    await isGone()
  })
})
