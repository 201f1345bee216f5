/** Tests of the items page in Chromium: the panel beside the list, new items, and the bar at the top. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { claimsOf } from '../../../pages/shared/claims.js'
import { inSeconds } from '../../conformance/tokens.js'
import { inChromium } from '../../support/chromium.js'
import { assertUsable, screens } from '../../support/guarded-page.js'
import {
  createdBy,
  type ItemsPage,
  readBack,
  serviceWith,
  useItemsPage,
} from '../../support/items-page.js'
import { until } from '../../support/until.js'

const { openItems, openWith } = useItemsPage()

async function hasInEditor(page: ItemsPage, text: string): Promise<void> {
  await until(`${text} in the editor`, async () =>
    (await page.editor.textContent())?.includes(text),
  )
}

describe('the panel beside the list', inChromium, () => {
  test('the panel shows the item of the active row, and keys go to the next row', async () => {
    const { own, ids, page } = await openWith(['{"n":"one"}', '{"n":"two"}', '{"n":"three"}'])
    await page.open('"one"')
    await page.hasFocus('.editor')
    await page.keyboard.press('Alt+ArrowDown')
    await hasInEditor(page, '"two"')
    await page.hasFocus('.editor')
    await page.locator('tr.active').getByText('two').waitFor()
    await page.keyboard.press('Alt+ArrowUp')
    await hasInEditor(page, '"one"')
    await page.getByRole('button', { name: 'Next row' }).click()
    await hasInEditor(page, '"two"')

    await page.cell('"three"').click()
    await hasInEditor(page, '"three"')
    await page.hasFocus()
    await page.keyboard.press('ArrowUp')
    await hasInEditor(page, '"two"')
    await page.hasFocus()
    await page.keyboard.press('e')
    await page.hasFocus('.editor')
    await assertUsable(page)

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
    assert.match((await readBack(own, ids[1] ?? '')) ?? '', /"n":"typed"/)

    await page.open('"one"')
    await page.editor.fill('{"n":"lost"}')
    await page.keyboard.press('Alt+ArrowDown')
    await question.waitFor()
    await page.keyboard.press('Control+s') // ignored by the panel below the question
    await page.choose('Discard')
    await hasInEditor(page, '"typed"')
    await page.keyboard.press('Escape')
    await page.dialog.waitFor({ state: 'detached' })
    await page.hasFocus()
    assert.match((await readBack(own, ids[0] ?? '')) ?? '', /"n":"one"/)

    await page.open('"one"')
    await page.cell('"one"').dblclick()
    await page.getByRole('textbox', { name: 'n, text' }).fill('other')
    await page.keyboard.press('Enter')
    await hasInEditor(page, '"other"')
    assert.equal(await page.getByText('changed elsewhere').count(), 0)
  })

  test('the panel fills the screen of a phone, where the button for shortcuts is hidden', async () => {
    const { page } = await openWith(['{"name":"one","price":2}', '{"price":3}'], {
      viewport: screens.phone,
    })
    await page.getByLabel('Select', { exact: true }).first().locator('..').click()
    await page.locator('tr[aria-selected="true"]').waitFor()
    assert.equal(await page.dialog.count(), 0)
    await page.cell('3').locator('..').click()
    await hasInEditor(page, '"price": 3')
    await page.choose('Cancel')
    await page.open('"one"')
    await hasInEditor(page, '"one"')
    const size = await page.evaluate<number[]>(
      '(({ width, height }) => [width, height])(document.querySelector(".panel").getBoundingClientRect())',
    )
    assert.deepEqual(size, [screens.phone.width, screens.phone.height])
    await assertUsable(page)
    await page.editor.fill(`{"of":[${'1,\n'.repeat(99)}1]}`)
    const bottom = await page.evaluate<number>(
      'document.querySelector(".panel .main").getBoundingClientRect().bottom',
    )
    assert.ok(bottom < screens.phone.height && bottom > screens.phone.height - 32, `${bottom}`)
    await page.choose('Cancel')
    await page.choose('Discard')
    assert.ok(!(await page.getByRole('button', { name: 'Shortcuts' }).isVisible()))
  })

  test('a new item starts with the members that most items have, and the cursor is in the first value', async () => {
    const { own, page } = await openWith(['{"name":"a","n":1.5,"tags":[1]}', '{"name":"b","n":2}'])
    await page.counts('2 items')
    await page.keyboard.press('n')
    await page.hasFocus('.editor')
    await hasInEditor(page, '"n": 0')
    await page.keyboard.type('typed')
    await page.save()
    const { text } = await own.call('GET', '/items')
    assert.ok(text.includes('"name": "typed",\n  "n": 0}'), text)

    await createdBy(own, '{"city":"Bern"}', '"places"')
    await page.cell('"Bern"').click()
    await page.keyboard.press('n')
    await hasInEditor(page, '{  "project_id": "places",  "city": ""}')
    const heights = await page.evaluate<number[]>(
      '[".editor", ".panel"].map((part) => document.querySelector(part).offsetHeight)',
    )
    assert.ok((heights[0] ?? 0) > 0.75 * (heights[1] ?? 0), `editor and panel: ${heights}`)
  })
})

describe('the bar at the top', inChromium, () => {
  test('the bar says whether the list is live, who the token names, and when the token expires', async () => {
    const { own } = await serviceWith('{}')
    let isCut = false
    const token = own.mint({ sub: 'maria', exp: inSeconds(7_100) })
    const page = await openItems(own, {
      token,
      isCut: ({ pathname }) => isCut && pathname.endsWith('/items'),
      expected: /ERR_FAILED/,
    })
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Token of maria, expires in 1 hour' }).waitFor()
    await page.getByText('Item Store', { exact: true }).waitFor()
    isCut = true
    await createdBy(own, '{}')
    await page.getByText('Not connected', { exact: true }).waitFor()
    await assertUsable(page)
  })

  test('the subject and expiry of a token are described in words', () => {
    const tokenOf = (claims: object) =>
      `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`
    const cases = [
      [{ exp: 1_000 + 3 * 86_400 }, 'expires in 3 days'],
      [{ exp: 1_000 + 7_100 }, 'expires in 1 hour'],
      [{ exp: 1_059.5 }, 'expires within a minute'],
      [{ exp: 999 }, 'expired just now'],
      [{ exp: 1_000 - 86_400 }, 'expired 1 day ago'],
    ] as const
    for (const [{ exp }, expiry] of cases) {
      const token = tokenOf({ sub: 'Zoë <b>', exp })
      assert.deepEqual(claimsOf(token, 1_000_000), { subject: 'Zoë <b>', expiry })
    }
    const unreadable = ['', 'x', 'x.x.x', tokenOf([]), `x.${btoa('null')}.x`]
    const incomplete = [{ sub: 'a' }, { exp: 1 }, { sub: 1, exp: 1 }, { sub: 'a', exp: 'soon' }]
    for (const text of [...unreadable, ...incomplete.map(tokenOf)]) {
      assert.equal(claimsOf(text), undefined, text)
    }
  })
})
