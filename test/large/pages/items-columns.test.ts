/** Tests of the items page's columns in Chromium: sort, order, filters, and cards on a narrow screen. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inChromium, type Locator } from '../../support/chromium.js'
import { assertAccessible, assertUsable, screens } from '../../support/guarded-page.js'
import { type ItemsPage, useItemsPage } from '../../support/items-page.js'
import { until } from '../../support/process.js'

const { openWith } = useItemsPage()

async function showsHeads(page: ItemsPage, ...expected: string[]): Promise<void> {
  const heads = () => page.all('th:not(.rest) button', 'each.textContent')
  await until(`${expected}`, async () => `${await heads()}` === `${expected}`)
}

/** @param place position of the column, counted from 1. */
async function showsColumn(page: ItemsPage, place: number, ...expected: string[]): Promise<void> {
  const shown = () => page.all(`tbody td:nth-child(${place})`, 'each.textContent')
  await until(`${expected}`, async () => `${await shown()}` === `${expected}`)
}

async function boxOf(element: Locator) {
  const { x, y, width } = (await element.boundingBox()) ?? assert.fail('it is not visible')
  return { left: x, right: x + width, top: y, width }
}

function button(page: ItemsPage, name: string) {
  return page.getByRole('columnheader').getByRole('button', { name: new RegExp(`^${name}\\b`) })
}

describe('the columns of the items page', inChromium, () => {
  test('as many columns as fit are shown, and the last one lists the members without a column', async () => {
    const members = (kind: string) =>
      Array.from({ length: 12 }, (_, at) => `"${kind}${at}":"${kind}"`)
    const { own, page } = await openWith(
      ['a', 'a', 'b', 'b'].map((kind) => [`{"name":"${kind}",${members(kind)}}`, `"${kind}"`]),
    )
    const others = (kind: string) =>
      page.getByRole('gridcell', { name: new RegExp(`^${kind}0: ${kind} ${kind}1: ${kind} `) })
    await others('b').first().waitFor()
    await showsHeads(page, 'id', 'project_id', 'name')
    await assertAccessible(page)
    for (let count = 0; count < 8; count += 1) await own.create(`{${members('b')}}`, '"b"')
    await page.counts('12 items')
    await showsHeads(page, 'id', 'project_id', 'name') // new items move no column
    await others('b').nth(8).dblclick()
    await page.dialog.waitFor()
    await page.choose('Close', '+24 more columns')
    const dialog = await page.asks('Columns')
    await dialog.getByRole('searchbox').fill('B1')
    const boxes = dialog.getByRole('checkbox')
    await until('the found members', async () => (await boxes.count()) === 3)
    await boxes.last().check()
    await page.choose('Close')
    await showsHeads(page, 'id', 'project_id', 'name', 'b11')
  })

  test('a column head sorts by exact values, in reverse, or not at all', async () => {
    const [big, bigger] = ['12345678901234567890', '12345678901234567891']
    const { own, page } = await openWith([
      ...[`{"n":${bigger}}`, '{"n":1e19}', '{"n":"x"}', `{"n":${big}}`, '{"a":1}'],
    ])
    await page.counts('5 items')
    const shows = (...values: string[]) => showsColumn(page, 3, ...values)
    const sorted = page.locator('th[aria-sort]')
    await button(page, 'n').press('Enter')
    await shows('1e19', big, bigger, 'x', '')
    assert.equal(await sorted.getAttribute('aria-sort'), 'ascending')
    await assertUsable(page)
    await page.open('"x"')
    await page.choose('Close')
    await own.create('{"n":-1}')
    await shows('-1', '1e19', big, bigger, 'x', '')
    await page.isActive('"x"')
    await button(page, 'n').click()
    await shows('x', bigger, big, '1e19', '-1', '')
    await button(page, 'n').click()
    await shows(bigger, '1e19', 'x', big, '', '-1')
    assert.equal(await sorted.count(), 0)
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
      await page.locator('tbody tr').first().locator('td.end').dblclick()
      await page.enter(value)
      await page.closes()
      await page.cell(value).waitFor()
    }
    await page.press('Delete')
    await page.choose('Delete')
    await page.closes()
    await page.cell('0').waitFor({ state: 'detached' })
  })

  test('the pointer changes and resets the width of a column, which is remembered', async () => {
    const { page } = await openWith(['{"title":"Some title","price":1}'])
    await page.cell('"Some title"').waitFor()
    const head = (name: string) => page.getByRole('columnheader', { name, exact: true })
    const width = async (name = 'title') => (await boxOf(head(name))).width
    const [before, project] = [await width(), await width('project_id')]
    const { right, top } = await boxOf(head('title'))
    await page.mouse.move(right - 4, top + 10)
    await page.mouse.down()
    await page.mouse.move(right + 36, top + 10)
    await page.mouse.move(right + 76, top + 10)
    await page.mouse.up()
    const isWider = async () => Math.abs((await width()) - before - 80) < 8
    await until('a wider column', isWider)
    assert.equal(await width('project_id'), project)
    await page.choose('Columns', 'Move project_id to the right', 'Close')
    await page.reload()
    await until('the same width', isWider)
    const edge = (await boxOf(head('title'))).right - 4
    await page.mouse.dblclick(edge, top + 10)
    await until('the former width', async () => (await width()) === before)
    assert.equal(await page.locator('th[aria-sort]').count(), 0)
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

    await page.setViewportSize({ width: 700, height: 800 })
    await page.evaluate('void (document.querySelector("[role=grid]").scrollLeft = 400)')
    const id = () => page.locator('tbody td').first().boundingBox()
    await until('the id in view', async () => Math.round((await id())?.x ?? -1) === 0)
    await assertUsable(page)

    const second = (name: string) =>
      page.locator('th:nth-child(2)').getByText(name, { exact: true }).waitFor()
    await page.project.selectOption('one')
    await second('project_id')
    await page.project.selectOption('All projects')
    await second('m2')
    await columns.press('Enter')
    await page.button('Default columns').press('Enter')
    await second('project_id')
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
    for (const first of ['Mug', 'Tea']) {
      await button(page, 'title').click()
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
