/** Tests of the items page's list in Chromium: columns, filters, cards on a narrow screen, and selected items. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { inChromium } from '../../support/chromium.js'
import { assertAccessible, assertUsable, screens } from '../../support/guarded-page.js'
import { type ItemsPage, type ItemsService, useItemsPage } from '../../support/items-page.js'
import { until } from '../../support/process.js'

const { openWith } = useItemsPage()

async function showsHeads(page: ItemsPage, ...expected: string[]): Promise<void> {
  const heads = () => page.all('th:not(.rest) button', 'each.textContent')
  await until(`${expected}`, async () => `${await heads()}` === `${expected}`)
}

function button(page: ItemsPage, name: string) {
  return page.getByRole('columnheader').getByRole('button', { name: new RegExp(`^${name}\\b`) })
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => `{"n":${n}.0}`)

async function selects(page: ItemsPage, ...expected: number[]): Promise<void> {
  const selected = () => page.all('tr[aria-selected=true] .end', 'Number(each.textContent)')
  await until(`${expected} selected`, async () => `${await selected()}` === `${expected}`)
}

async function stored(own: ItemsService): Promise<string> {
  return [...(await own.list()).matchAll(/"n":(\d+)/g)].map(([, n]) => n).join(' ')
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
    const shown = () => page.all('tbody td:nth-child(3)', 'each.textContent')
    const shows = (...values: string[]) =>
      until(`${values}`, async () => `${await shown()}` === `${values}`)
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
    const { page } = await openWith(['x', 'x', 'x', 'y'].map((t, n) => `{"n":${n + 1},"t":"${t}"}`))
    await button(page, 'n').click()
    await page.locator('th[aria-sort]').waitFor()
    await page.search.fill('x')
    await page.counts('3 of 4 items')
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
    const width = async (name = 'title') => (await page.boxOf(head(name))).width
    const [before, project] = [await width(), await width('project_id')]
    const { right, top } = await page.boxOf(head('title'))
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
    const edge = (await page.boxOf(head('title'))).right - 4
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
    await page.hasFocusOn('Move m2 to the left')
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

  test('who has moved a column still sees the columns of new members', async () => {
    const { own, page } = await openWith(['{"a":1,"b":2}'])
    await showsHeads(page, 'id', 'project_id', 'a', 'b')
    await page.choose('Columns', 'Move b to the left', 'Close')
    await showsHeads(page, 'id', 'project_id', 'b', 'a')
    await own.create('{"a":1,"new":2}')
    await showsHeads(page, 'id', 'project_id', 'b', 'a', 'new')
  })

  test('conditions filter items by their columns, with the keyboard alone', async () => {
    const items = ['{"n":1.0,"s":"One"}', '{"n":1}', '{"n":10}', '{"s":"ONE two"}']
    const { page } = await openWith(items)
    await page.counts('4 items')
    const member = page.getByLabel('Member')
    const condition = page.getByLabel('Test')
    const value = page.getByLabel('Value')
    await page.button('Filter').press('Enter')
    await page.hasFocusOn('Member')
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

  test('a click on an array and the key v show the whole value of a cell', async () => {
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
  })
})

describe('selected items', inChromium, () => {
  test('the keyboard alone selects a row, a range or all matches, and deletes them after one question', async () => {
    const { own, page } = await openWith(numbers(12))
    await page.counts('12 items')
    await page.press('ArrowDown', 'Space', 'ArrowDown', 'ArrowDown', 'Shift+ArrowDown')
    await selects(page, 0, 2, 3)
    await page.press('Shift+ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowUp')
    await selects(page, 0, 2, 3, 4) // a range can become shorter
    await page.press('Space', 'Shift+End')
    await selects(page, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
    await page.press('Escape')
    await selects(page)

    await page.press('/')
    await page.keyboard.type('"n":1')
    await page.counts('3 of 12 items')
    await page.press('Shift+Tab', 'Control+a') // leaves the field, where Ctrl+A would select the text
    await selects(page, 1, 10, 11)
    await page.sees('3 items selected')
    await assertAccessible(page)
    await page.press('Delete')
    await page.asks('Delete 3 items?')
    await assertUsable(page)
    await page.hasFocusOn('Cancel')
    await page.press('Tab', 'Enter')
    await page.closes()
    await page.counts('0 of 9 items')
    assert.equal(await stored(own), '0 2 3 4 5 6 7 8 9')
  })

  test('checkboxes and Shift select rows; only those that match a search are copied and exported', async () => {
    const { own, ids, page } = await openWith(numbers(8))
    await page.counts('8 items')
    const top = await page.topOfRows()
    const box = (row: number) => page.locator('tbody .box').nth(row)
    await box(1).click()
    await page.cell('4.0').click({ modifiers: ['Shift'] })
    assert.equal(await page.evaluate('String(getSelection())'), '')
    await selects(page, 1, 2, 3, 4)
    await box(2).click()
    await selects(page, 1, 3, 4)
    const all = page.getByRole('checkbox', { name: 'Select all rows' })
    await all.click()
    await selects(page, 0, 1, 2, 3, 4, 5, 6, 7)
    assert.equal(await page.topOfRows(), top, 'the rows moved when the selection bar appeared')
    await all.press('Space')
    await selects(page)
    for (const row of [7, 0, 3]) await box(row).click()
    await page.sees('3 items selected')
    await page.search.fill('"n":3')
    await page.sees('1 item selected')
    await page.search.fill('')

    const texts = await Promise.all([0, 3, 7].map((n) => own.read(ids[n])))
    const file = `[\n${texts.join(',\n')}\n]\n`
    const saved = page.waitForEvent('download')
    await page.button('Export the selected items').press('Enter')
    assert.equal(readFileSync(await (await saved).path(), 'utf8'), file)
    await page.sees('3 items exported')
    await page.evaluate(`navigator.clipboard.write = async ([item]) => {
      globalThis.copied = await (await item.getType('text/plain')).text()
    }; 0`)
    await page.press('Control+c')
    await page.sees('3 items copied')
    assert.equal(await page.evaluate('copied'), file)
    await page.evaluate('navigator.clipboard.write = async () => { throw new Error("may not") }; 0')
    await page.button('Copy JSON of the selected items').click()
    await page.sees('3 items not copied: may not')
    await page.button('Select none').press('Enter')
    await page.hasFocus()
  })

  test('failed deletes are listed with their causes and can be tried again', async () => {
    const { own, ids, page } = await openWith(numbers(6), { viewport: screens.phone })
    await page.counts('6 items')
    await page.press('Control+a')
    await page.sees('6 items selected')
    await assertUsable(page)
    await page.press('Delete')
    await page.asks('Delete 6 items?')
    // An item that somebody else has changed is kept. If somebody else has deleted one, that's no failure.
    await own.replace(ids[1], '{"n":1.50}')
    await own.delete(ids[5])
    const when = `url.endsWith('${ids[3]}')`
    await page.refuse('DELETE', 500, { code: 'INTERNAL_ERROR', when })
    await page.choose('Delete')
    await page.sees('4 of 6 items deleted, 2 failed.')
    await page.sees('It was changed elsewhere, and not deleted. It is now:', '"n":1.50}')
    await page.sees(/Not deleted\. no luck \(500 · INTERNAL_ERROR/)
    const named = page.getByRole('dialog').locator('li .id')
    const shown = [await named.first().textContent(), await named.last().textContent()]
    assert.deepEqual(shown.sort(), [ids[1], ids[3]].sort())
    assert.equal(await stored(own), '1 3')
    await assertUsable(page)
    await page.respond('DELETE', 'undefined')
    await page.choose('Try these again')
    await page.closes()
    await page.counts('0 items')
    assert.equal(await stored(own), '')
  })

  test('a delete of many items stops at its button or when no request can succeed, and can be continued', async () => {
    const { own, page } = await openWith(numbers(30), { expected: /net::ERR_FAILED/ })
    await page.counts('30 items')
    await page.press('Control+a', 'Delete')
    await page.asks('Delete 30 items?')
    const release = await page.hold('DELETE')
    await page.choose('Delete')
    await page.getByRole('progressbar').waitFor()
    await assertAccessible(page)
    await page.choose('Stop')
    await release()
    await page.sees('4 of 30 items deleted, 26 not tried.')

    const tried = () => page.evaluate<number>('globalThis.tried ?? 0')
    const when = '(globalThis.tried = (globalThis.tried ?? 0) + 1)'
    await page.refuse('DELETE', 401, { code: 'TOKEN_EXPIRED', when })
    await page.choose('Continue')
    await page.getByRole('dialog', { name: 'Token' }).getByText('TOKEN_EXPIRED').waitFor()
    assert.ok((await tried()) <= 4, `${await tried()} requests`)
    await page.respond('DELETE', 'undefined')
    await page.choose('Close')
    await page.sees(/^4 of 30 items deleted, [1-4] failed, 2[2-5] not tried\.$/)
    await page.getByRole('button', { name: /^Try (it|these) again$/ }).click()
    await page.closes()
    await page.counts('0 items')
    assert.equal(await stored(own), '')
    const reads = page.sent.filter((each) => /^GET .*\/items\/./.test(each))
    assert.deepEqual(reads, []) // an unchanged item is deleted by one request, without a read
  })
})
