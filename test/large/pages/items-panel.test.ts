/** Tests of the items page in Chromium: the panel beside the list, new items, and the bar at the top. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inSeconds } from '../../conformance/tokens.js'
import { inChromium } from '../../support/chromium.js'
import { assertUsable } from '../../support/guarded-page.js'
import { serviceWith, useItemsPage } from '../../support/items-page.js'

const { openItems, openWith } = useItemsPage()

describe('the panel beside the list', inChromium, () => {
  test('the panel shows the item of the active row, and keys go to the next row', async () => {
    const { page } = await openWith(['{"n":"one"}', '{"n":"two"}', '{"n":"three"}'])
    await page.open('"one"')
    await page.hasFocus('.editor')
    await page.press('Alt+ArrowDown')
    await page.hasInEditor('"two"')
    await page.hasFocus('.editor')
    await page.press('Alt+ArrowUp')
    await page.hasInEditor('"one"')
    await page.getByRole('button', { name: 'Next row' }).click()
    await page.hasInEditor('"two"')

    await page.cell('"three"').click()
    await page.hasInEditor('"three"')
    await page.hasFocus()
    await page.press('ArrowUp')
    await page.hasInEditor('"two"')
    await page.hasFocus()
    await page.press('e')
    await page.hasFocus('.editor')
    await assertUsable(page)
    await page.press('Escape')
    await page.closes()
    await page.hasFocus()
  })

  test('a new item starts with the members that most items have, and the cursor is in the first value', async () => {
    const { own, page } = await openWith([
      '{"name":null,"n":-1.5,"is":true,"of":[1],"in":{"x":1},"no":null,"odd":1}',
      '{"name":"b","n":2,"is":false,"of":[],"in":{},"no":null}',
    ])
    await page.counts('2 items')
    await page.press('n')
    await page.hasFocus('.editor')
    await page.hasInEditor('"n": 0,  "is": false,  "of": [],  "in": {},  "no": null}')
    await page.keyboard.type('typed')
    await page.save()
    assert.match(await own.list(), /"name": "typed",\n {2}"n": 0,/)

    await own.create('{"city":"Bern"}', '"places"')
    await page.cell('"Bern"').click()
    await page.press('n')
    await page.hasInEditor('{  "project_id": "places",  "city": ""}')
  })
})

describe('the bar at the top', inChromium, () => {
  test('the bar says whether the list is live, who the token names, and when the token expires', async () => {
    const { own } = await serviceWith(['{}'])
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
    await own.create('{}')
    await page.getByText('Not connected', { exact: true }).waitFor()
    await assertUsable(page)
  })
})
