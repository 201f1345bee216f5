/** Tests of the items page's columns in Chromium: sort, widths, order, filters, and cards on a narrow screen. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inChromium, type Locator } from '../../support/chromium.js'
import { assertAccessible, assertUsable, screens } from '../../support/guarded-page.js'
import { type ItemsPage, useItemsPage } from '../../support/items-page.js'
import { until } from '../../support/process.js'

const { openWith } = useItemsPage()

async function showsHeads(page: ItemsPage, ...expected: string[]): Promise<void> {
  const heads = () => page.all('th:not(.more) button', 'each.textContent')
  await until(`${expected}`, async () => `${await heads()}` === `${expected}`)
}

/** @param place position of the column, counted from 1. */
async function showsColumn(page: ItemsPage, place: number, ...expected: string[]): Promise<void> {
  const shown = () => page.all(`tbody [aria-colindex="${place}"]`, 'each.textContent')
  await until(`${expected}`, async () => `${await shown()}` === `${expected}`)
}

function head(page: ItemsPage, name: string) {
  return page.getByRole('columnheader', { name, exact: true })
}

async function boxOf(element: Locator) {
  const { x, y, width } = (await element.boundingBox()) ?? assert.fail('it is not visible')
  return { left: x, right: x + width, top: y, width }
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

describe('the columns of the items page', inChromium, () => {
  test('columns keep their places when an item is added, and are in the order of the first items', async () => {
    const { own, id, page } = await openWith(['{"name":"a","price":1,"code":"x"}', '{"price":2}'])
    await showsHeads(page, 'id', 'project_id', 'name', 'price', 'code')
    for (let count = 0; count < 3; count += 1) await own.create('{"code":"only","new":1}')
    await page.counts('5 items')
    await showsHeads(page, 'id', 'project_id', 'name', 'price', 'code', 'new')
    // Columns keep their places even if the item that determined their order is deleted.
    await own.delete(id)
    await page.counts('4 items')
    await showsHeads(page, 'id', 'project_id', 'price', 'code', 'new')
  })

  test('as many columns as fit are shown, a head counts the others, and the last column fills the space', async () => {
    const members = Array.from({ length: 30 }, (_, at) => `"m${at}":"a value of some length"`)
    const { page } = await openWith([`{${members}}`])
    await page.cell('"a value of some length"').first().waitFor()
    const more = page.getByRole('button', { name: /^\+\d+ more columns$/ })
    const places = `(({ left, right }) => [left, right])(each.getBoundingClientRect())`
    const [[, end] = [], ...heads] = await page.all<[number, number]>('[role=grid], th', places)
    assert.equal(heads.at(-1)?.[1], end)
    const shown = (await page.getByRole('columnheader').count()) - 2 // without `id` and the header that counts the rest
    assert.equal(await more.textContent(), `+${31 - shown} more columns`)
    await assertAccessible(page)
    await more.click()
    const dialog = await page.asks('Columns')
    await dialog.getByRole('searchbox').fill('M2')
    const boxes = dialog.getByRole('checkbox')
    await until('the found members', async () => (await boxes.count()) === 11)
    await page.getByRole('checkbox', { name: 'm29' }).check()
    await page.choose('Close')
    assert.equal(await more.textContent(), `+${30 - shown} more columns`)
  })

  test('if not all columns fit, the last one lists the members that few items have, and no item moves a column', async () => {
    const members = (kind: string) =>
      Array.from({ length: 12 }, (_, at) => `"${kind}${at}":"${kind}"`)
    const { own, page } = await openWith(
      ['a', 'a', 'b', 'b'].map((kind) => [`{"name":"${kind}",${members(kind)}}`, `"${kind}"`]),
    )
    const others = (kind: string) =>
      page.getByRole('gridcell', { name: new RegExp(`^${kind}0: ${kind} ${kind}1: ${kind} `) })
    await others('b').first().waitFor()
    await showsHeads(page, 'id', 'project_id', 'name')
    await page.getByRole('button', { name: '+24 more columns' }).waitFor()
    for (let count = 0; count < 8; count += 1) await own.create(`{${members('b')}}`, '"b"')
    await page.counts('12 items')
    await showsHeads(page, 'id', 'project_id', 'name')
    await others('b').nth(8).dblclick()
    await page.dialog.waitFor()
  })

  test('a column head sorts by exact values, in reverse, or not at all, and with Shift by a further key', async () => {
    const [big, bigger] = ['12345678901234567890', '12345678901234567891']
    const { own, page } = await openWith([
      `{"kind":"b","n":${bigger}}`,
      '{"kind":"a","n":1e19}',
      '{"kind":"a","n":"x"}',
      `{"kind":"b","n":${big}}`,
      '{"kind":"a"}',
    ])
    await page.counts('5 items')
    const shows = (...values: string[]) => showsColumn(page, 4, ...values)
    await button(page, 'kind').press('Enter')
    await button(page, 'n').press('Shift+Enter')
    await shows('1e19', 'x', '', big, bigger)
    await button(page, 'n').press('Shift+Enter')
    await shows('x', '1e19', '', bigger, big)
    const heads = await page.all('th', 'each.ariaSort + each.innerText')
    assert.match(`${heads}`, /,ascendingkind\s+key\s+1,descendingn\s+key\s+2$/)
    await assertUsable(page)
    await button(page, 'n').press('Enter')
    await shows('1e19', big, bigger, 'x', '')
    const sorted = page.locator('th[aria-sort]')
    assert.equal(await sorted.getAttribute('aria-sort'), 'ascending')
    await page.open('"x"')
    await page.choose('Close')
    await own.create('{"kind":"b","n":-1}')
    await shows('-1', '1e19', big, bigger, 'x', '')
    await page.isActive('"x"')
    await button(page, 'n').click()
    await shows('x', bigger, big, '1e19', '-1', '')
    await button(page, 'n').click()
    await shows(bigger, '1e19', 'x', big, '', '-1')
    assert.equal(await sorted.count(), 0)
    await button(page, 'kind').press('Enter')
    for (let count = 0; count < 3; count += 1) await button(page, 'n').press('Shift+Enter')
    await shows('1e19', 'x', '', bigger, big, '-1')
  })

  test('while a long sort by a column runs, saved items are shown and deleted items are gone', async () => {
    const { page } = await openWith(['{"n":1,"t":"a"}', '{"n":2,"t":"b"}', '{"n":3,"t":"c"}'])
    await button(page, 'n').click()
    await page.locator('th[aria-sort]').waitFor()
    await page.search.fill('t')
    await page.cell('3').waitFor()
    // Makes search and sort pause forever after their first slice of work.
    await page.evaluate(`{
      let now = performance.now()
      performance.now = () => (now += 100)
      globalThis.setTimeout = () => 0
    }`)
    for (const value of ['1.0', '0']) {
      await page.locator('tbody tr').first().locator('td.number').dblclick()
      await page.enter(value)
      await page.closes()
      await page.cell(value).waitFor()
    }
    await page.press('Delete')
    await page.choose('Delete')
    await page.closes()
    await page.cell('0').waitFor({ state: 'detached' })
  })

  test('the pointer and keys change and reset the width of a column', async () => {
    const { page } = await openWith(['{"title":"Some title","price":1}'])
    await page.cell('"Some title"').waitFor()
    const width = async (name = 'title') => (await boxOf(head(page, name))).width
    const [before, project] = [await width(), await width('project_id')]

    const { right, top } = await boxOf(head(page, 'title'))
    await drag(page, right - 4, right + 76, top)
    await until('a wider column', async () => Math.abs((await width()) - before - 80) < 8)
    assert.equal(await width('project_id'), project)
    const edge = (await boxOf(head(page, 'title'))).right - 4
    await page.mouse.move(edge, top + 10)
    await page.mouse.dblclick(edge, top + 10)
    await until('the former width', async () => (await width()) === before)
    assert.equal(await page.locator('th[aria-sort]').count(), 0)

    const title = button(page, 'title')
    for (let count = 0; count < 3; count += 1) await title.press('Shift+ArrowRight')
    await until('a wider column', async () => (await width()) > before)
    for (let count = 0; count < 20; count += 1) await title.press('Shift+ArrowLeft')
    await until('a narrow column', async () => (await width()) < before / 2)
    assert.ok((await width()) > 30)
    await title.press('Backspace')
    await until('the former width', async () => (await width()) === before)
  })

  test('the pointer and keys move columns, but `id` stays the first column', async () => {
    const { page } = await openWith(['{"a":1,"b":2,"c":3}'])
    await showsHeads(page, 'id', 'project_id', 'a', 'b', 'c')
    await button(page, 'c').press('Control+ArrowLeft')
    await showsHeads(page, 'id', 'project_id', 'a', 'c', 'b')
    assert.equal(await page.focused(), 'c')
    await button(page, 'project_id').press('Control+ArrowLeft')
    await button(page, 'id').press('Control+ArrowRight')
    await button(page, 'b').press('Control+ArrowRight')
    await showsHeads(page, 'id', 'project_id', 'a', 'c', 'b')

    const startOf = async (name: string) => (await boxOf(head(page, name))).left + 12
    const { top } = await boxOf(head(page, 'a'))
    await drag(page, await startOf('a'), await startOf('b'), top)
    await showsHeads(page, 'id', 'project_id', 'c', 'b', 'a')
    await drag(page, await startOf('b'), 20, top)
    await drag(page, 20, await startOf('b'), top)
    await showsHeads(page, 'id', 'project_id', 'c', 'b', 'a')
    assert.equal(await page.locator('th[aria-sort]').count(), 0)
    await showsColumn(page, 3, '3')
  })

  test('columns are chosen and moved with the keyboard alone, and remembered for each project', async () => {
    const members = [0, 1, 2, 3, 4, 5, 6, 29].map((number) => `"m${number}":"secret ${number}"`)
    const { page } = await openWith([[`{${members}}`, '"one"']])
    await page.cell('"secret 0"').waitFor()
    const columns = page.button('Columns')
    const box = (name: string) => page.getByRole('checkbox', { name, exact: true })
    await columns.press('Enter')
    await box('m0').press(' ')
    await box('project_id').press(' ')
    const move = page.button('Move m2 to the left')
    await move.press('Enter')
    await until('the kept focus', async () => (await page.focused()) === 'Move m2 to the left')
    await move.press('Enter')
    await assertUsable(page)
    await page.press('Escape')
    await showsHeads(page, 'id', 'm2', 'm1', 'm3', 'm4', 'm5', 'm6', 'm29')
    await button(page, 'm1').press('Shift+Enter')

    await page.reload()
    await showsHeads(page, 'id', 'm2', 'm1', 'm3', 'm4', 'm5', 'm6', 'm29')
    await columns.press('Enter')
    await box('m1').press(' ')
    await box('m1').press(' ')
    await page.press('Escape')
    await showsHeads(page, 'id', 'm2', 'm3', 'm4', 'm5', 'm6', 'm29', 'm1')
    const stored = await page.evaluate<string>('localStorage.getItem("item-store-table:")')
    assert.match(stored, /"names":\["m2"/)
    assert.doesNotMatch(stored, /secret|eyJ/)

    for (let count = 0; count < 99; count += 1) await button(page, 'm6').press('Shift+ArrowRight')
    await page.evaluate('void (document.querySelector("[role=grid]").scrollLeft = 400)')
    const id = () => page.locator('tbody td').first().boundingBox()
    await until('the id in view', async () => Math.round((await id())?.x ?? -1) === 0)
    await assertUsable(page)

    const second = (name: string) =>
      page.locator('th[aria-colindex="2"]').getByText(name, { exact: true }).waitFor()
    await page.project.selectOption('one')
    await second('project_id')
    await page.project.selectOption('All projects')
    await second('m2')
    await columns.press('Enter')
    await page.button('Default columns').press('Enter')
    await second('project_id')
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
    await page.evaluate(`${others}.at(-1).dispatchEvent(
      new other.KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true, bubbles: true }),
    )`)
    const stored = () => page.evaluate<string>('localStorage.getItem("item-store-table:")')
    await until('the width that the other tab has stored', async () => /"b",/.test(await stored()))
    assert.match(await stored(), /"sort":\[\{[^}]*"name":"a"/)
    assert.equal(await otherHeads(), 'id,project_id,a,b')
    await page.evaluate('other.close()')
  })

  test('of 190 columns, only the visible ones and the id are rendered', async () => {
    const names = Array.from({ length: 189 }, (_, number) => `"m${number}":${number}`)
    const { page } = await openWith([`{${names}}`])
    await page.cell('0').waitFor()
    const columns = { names: names.map((_, number) => `m${number}`) }
    await page.evaluate(`localStorage.setItem('item-store-table:', '${JSON.stringify(columns)}')`)
    await page.reload()
    await showsColumn(page, 2, '0')
    await page.evaluate('void (document.querySelector("[role=grid]").scrollLeft = 1e6)')
    await page.cell('188').waitFor()
    assert.equal(await page.cell('40').count(), 0)
    assert.ok((await page.getByRole('gridcell').count()) < 40)
    await assertAccessible(page)
  })

  test('conditions filter items by their columns, with the keyboard alone', async () => {
    const items = ['{"n":1.0,"s":"One"}', '{"n":1}', '{"n":10}', '{"s":"ONE two"}']
    const { page } = await openWith(items)
    await page.counts('4 items')
    const member = page.getByLabel('Member')
    const condition = page.getByLabel('Test')
    const value = page.getByLabel('Value')
    await page.button('Filter').press('Enter')
    await until('the focus on the member', async () => (await page.focused()) === 'Member')
    await value.fill('1')
    await page.counts('4 items') // no member is chosen yet
    await member.selectOption('n')
    await condition.selectOption('equals')
    await page.counts('2 of 4 items')
    await condition.selectOption('is absent')
    await page.counts('1 of 4 items')
    await page.button('Add condition').press('Enter')
    await member.last().selectOption('s')
    await value.fill('one')
    await page.counts('1 of 4 items')
    await value.fill('three')
    await page.sees('No item is without n and has a s that contains “three”.')
    await assertUsable(page)
    await page.button('Remove this condition').first().press('Enter')
    await value.fill('one')
    await page.counts('2 of 4 items')
    await value.fill('three')
    await page.button('Show all items').press('Enter')
    await page.counts('4 items')
    assert.equal(await member.count(), 0)
  })

  test('on a narrow screen, each row is a card with up to three members, which opens in a panel that fills the screen', async () => {
    const items = [
      '{"title":"Tea","price":4.0,"of":["a","b"],"more":true}',
      '{"title":"Mug","odd":{"x":1}}',
      '{"other":1}',
      ['{"title":"Pen"}', '"desk"'],
    ] as const
    const { page } = await openWith(items, { viewport: screens.phone })
    for (const name of ['title: "Tea"', 'price: 4.0', 'of: ["a","b"]', 'odd: {"x":1}']) {
      await page.getByRole('gridcell', { name }).waitFor()
    }
    assert.equal(await page.getByRole('gridcell', { name: 'more' }).count(), 0)
    await page.locator('.project').getByText('desk').waitFor()
    const controls = ':is(.toolbar, .bar, .grid) :is(button, select, label, input[type=search])'
    const heights = (await page.all<number>(controls, 'each.offsetHeight')).filter(Boolean)
    assert.ok(Math.min(...heights) >= 40, `the controls are ${heights} high`)
    await page.getByLabel('Select', { exact: true }).first().locator('..').click()
    await page.locator('tr[aria-selected="true"]').waitFor()
    assert.equal(await page.dialog.count(), 0)
    await page.choose('Filter')
    await assertUsable(page)
    for (const [order, first] of [
      ['title ↓', 'Tea'],
      ['title ↑', 'Mug'],
    ] as const) {
      await page.getByRole('combobox', { name: 'Sort by' }).selectOption(order)
      await page.locator('tbody tr').first().getByText(first, { exact: true }).waitFor()
    }
    assert.ok(!(await page.getByRole('button', { name: 'Shortcuts' }).isVisible()))
    await page.cell('{"x":1}').click()
    await page.hasInEditor('"odd": {')
    const sizes = await page.all('.panel', '[each.offsetWidth, each.offsetHeight]')
    assert.deepEqual(sizes, [Object.values(screens.phone)])
  })

  test('a click on an array, the key v, and a resting pointer show the whole value of a cell', async () => {
    const long = `${'long '.repeat(99)}end`
    const { page } = await openWith([
      `{"of":[{"n":1.0},12345678901234567890],"text":"${long}","short":"x"}`,
    ])
    const copied = await page.watchClipboard()
    const peek = page.getByRole('dialog', { name: /^Value of/ })
    const shown = () => peek.locator('pre').textContent()
    const closes = async () => {
      await page.press('Escape')
      await page.closes()
    }
    await page.getByText('[{"n":1.0},12345678901234567890]').click()
    await peek.waitFor()
    assert.equal(await shown(), '[\n  {\n    "n": 1.0\n  },\n  12345678901234567890\n]')
    await assertUsable(page)
    await peek.getByRole('button').click()
    assert.equal(await copied(), '[{"n":1.0},12345678901234567890]')
    await closes()

    await page.press('ArrowRight', 'v')
    await peek.waitFor()
    assert.equal(await shown(), long)
    await closes()
    await page.hasFocus()

    // The id, which is in the first column, is truncated as well.
    const cell = page.locator('td .open')
    const id = (await cell.textContent()) ?? ''
    const cellOfId = await boxOf(cell)
    await page.mouse.move(cellOfId.left + 40, cellOfId.top + 10)
    await page.asks('Value of id')
    assert.equal(await shown(), id)
    await page.mouse.move(cellOfId.left + 40, 5)
    await page.closes()
    const { left, top } = await boxOf(page.getByText(/^long long/))
    await page.mouse.move(left + 20, top + 10)
    await page.asks('Value of text')
    await page.mouse.move(left + 40, top + 50) // the pointer can reach the popover
    assert.equal(await peek.count(), 1)
    await page.hasFocus()
    await page.mouse.move(left + 20, 5)
    await page.closes()
  })
})
