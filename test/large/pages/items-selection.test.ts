/** Tests of the items page in Chromium: items are selected, and deleted, exported or copied together. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { inChromium } from '../../support/chromium.js'
import {
  assertAccessible,
  assertUsable,
  type GuardOptions,
  screens,
} from '../../support/guarded-page.js'
import { type ItemsPage, type ItemsService, useItemsPage } from '../../support/items-page.js'
import { until } from '../../support/process.js'

const { openWith } = useItemsPage()

const openNumbers = (count: number, options?: GuardOptions) =>
  openWith(
    Array.from({ length: count }, (_, n) => `{"n":${n}.0}`),
    options,
  )

async function selects(page: ItemsPage, ...expected: number[]): Promise<void> {
  const selected = () => page.all('tr[aria-selected=true] .end', 'Number(each.textContent)')
  await until(`${expected} selected`, async () => `${await selected()}` === `${expected}`)
}

async function stored(own: ItemsService): Promise<string> {
  return [...(await own.list()).matchAll(/"n":(\d+)/g)].map(([, n]) => n).join(' ')
}

describe('selected items', inChromium, () => {
  test('the keyboard alone selects a row, a range or all matches, and deletes them after one question', async () => {
    const { own, page } = await openNumbers(12)
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
    assert.equal(await page.focused(), 'Cancel')
    await page.press('Tab', 'Enter')
    await page.closes()
    await page.counts('0 of 9 items')
    assert.equal(await stored(own), '0 2 3 4 5 6 7 8 9')
  })

  test('checkboxes and Shift select rows; only those that match a search are copied and exported', async () => {
    const { own, ids, page } = await openNumbers(8)
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
    const { own, ids, page } = await openNumbers(6, { viewport: screens.phone })
    await page.counts('6 items')
    await page.press('Control+a')
    await page.sees('6 items selected')
    await assertUsable(page)
    await page.press('Delete')
    await page.asks('Delete 6 items?')
    // An item that somebody else has changed is kept. If somebody else has deleted one, that's no failure.
    await own.replace(ids[1], '{"n":1.50}')
    await own.delete(ids[5])
    await page.respond(
      'DELETE',
      `url.endsWith('${ids[3]}') && new Response('{"detail":{"detail":"no luck","error_code":"INTERNAL_ERROR","session_id":"x"}}', { status: 500 })`,
    )
    await page.choose('Delete')
    await page.sees('4 of 6 items deleted, 2 failed.')
    await page.sees('It was changed elsewhere, and not deleted. It is now:', '"n":1.50}')
    await page.sees(/Not deleted\. no luck \(500 · INTERNAL_ERROR/)
    const named = page.getByRole('dialog').locator('li .id')
    const failed = [await named.first().textContent(), await named.last().textContent()]
    assert.deepEqual(failed.sort(), [ids[1], ids[3]].sort())
    assert.equal(await stored(own), '1 3')
    await assertUsable(page)
    await page.respond('DELETE', 'undefined')
    await page.choose('Try these again')
    await page.closes()
    await page.counts('0 items')
    assert.equal(await stored(own), '')
  })

  test('a delete of many items stops at its button or when no request can succeed, and can be continued', async () => {
    const { own, page } = await openNumbers(30, { expected: /net::ERR_FAILED/ })
    await page.counts('30 items')
    const reads: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'GET' && /\/items\/./.test(request.url())) reads.push(request.url())
    })
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
    await page.respond(
      'DELETE',
      '(globalThis.tried = (globalThis.tried ?? 0) + 1) && new Response(\'{"detail":{"detail":"expired","error_code":"TOKEN_EXPIRED","session_id":"x"}}\', { status: 401 })',
    )
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
    assert.deepEqual(reads, []) // an unchanged item is deleted by one request, without a read
  })
})
