/** Tests of the items page in Chromium: its address says what is seen. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inChromium } from '../../support/chromium.js'
import { type ItemsPage, useItemsPage } from '../../support/items-page.js'
import { until } from '../../support/process.js'

const { openItems, openWith } = useItemsPage()

const shop = [
  ['{"title":"Tea","price":4.0}', '"a & b"'],
  ['{"title":"Mug","price":9.90}', '"a & b"'],
  ['{"title":"Pot","price":1e2}', '"a & b"'],
  ['{"title":"Note","price":5}', 'null'],
] as const

const hasAddress = (page: ItemsPage, expected: string) =>
  until(`the address ${expected}`, () => new URL(page.url()).hash === (expected && `#${expected}`))

/** Goes back, and forward again at once, in a page that is too busy to draw anything in between. */
const backAndForward = `new Promise((resolve) => {
  addEventListener('popstate', () => {
    addEventListener('popstate', resolve, { once: true })
    history.forward()
    for (const end = performance.now() + 200; performance.now() < end; );
  }, { once: true })
  history.back()
}).then(() => 0)`

describe('the address of the items page', inChromium, () => {
  const filtered = 'project=a+%26+b&where=%5B%22price%22%2C%22is+at+least%22%2C%225%22%5D'
  const sorted = `${filtered}&descending=price`

  test('a link to a project with conditions, an order and an open item shows the same to somebody else', async () => {
    const { own, ids, page } = await openWith(shop)
    await page.project.selectOption('a & b')
    await page.choose('Filter')
    await page.getByLabel('Member').selectOption('price')
    await page.getByLabel('Test').selectOption('is at least')
    await page.getByLabel('Value').fill('5')
    const sort = page.getByRole('columnheader').getByRole('button', { name: 'price' })
    for (let count = 0; count < 2; count += 1) await sort.click()
    await page.open('"Mug"')
    await hasAddress(page, `${sorted}&item=${ids[1]}`)

    const other = await openItems(own, { address: new URL(page.url()).hash })
    await other.hasInEditor('"Mug"')
    await other.counts('2 of 3 items')
    await other.isActive('"Mug"')
    const titles = () => other.all('tbody td:nth-child(3)', 'each.textContent')
    await until('the order of the link', async () => `${await titles()}` === 'Pot,Mug')
    await hasAddress(other, `${sorted}&item=${ids[1]}`) // without the token
    await other.showJson()
    await hasAddress(other, `${sorted}&as=json&item=${ids[1]}`)
    await other.reload()
    await other.getByText('"title":"Pot"').waitFor()
    await other.press('Escape')
    await hasAddress(other, `${sorted}&as=json`)
    await other.reload()
    await other.counts('2 of 3 items')
    await other.press('n') // the conditions of the link don't take the focus
    await other.asks('New item')
  })

  test('Back and Forward go to what was seen before, and ask before they discard typed text', async () => {
    const { ids, page } = await openWith(shop)
    await page.project.selectOption('(no project_id)')
    await page.counts('1 of 4 items')
    await hasAddress(page, 'project=')
    await page.open('"Note"')
    await hasAddress(page, `project=&item=${ids[3]}`)
    await page.goBack()
    await page.closes()
    await page.goForward()
    await page.hasInEditor('"Note"')
    await page.evaluate(backAndForward)
    await page.hasInEditor('"Note"')
    await page.editor.fill('{"typed":1}')
    await page.goBack()
    await page.asks('Discard your changes?')
    await page.choose('Cancel')
    await hasAddress(page, `project=&item=${ids[3]}`)
    await page.goBack()
    await page.choose('Discard')
    await page.closes()
    await page.choose('New item')
    await page.editor.fill('{"typed":2}')
    await page.goBack()
    await page.asks('Discard your changes?')
    await page.choose('Cancel')
    await page.holds('{"typed":2}')
    await page.goBack()
    await page.choose('Discard')
    await page.closes()
    await page.goForward()
    await page.holds('{}')
    await page.press('Escape')
    await hasAddress(page, 'project=')
    await page.goBack()
    await page.counts('4 items')
    await page.search.fill('tea')
    await hasAddress(page, 'search=tea')
    await page.search.fill('teapot')
    await hasAddress(page, 'search=teapot')
    await page.goBack() // one step for all that was typed
    await page.counts('4 items')
    assert.equal(await page.search.inputValue(), '')
  })

  test('Back undoes one change, however soon it follows, and Forward repeats it', async () => {
    const { ids, page } = await openWith(shop)
    await page.counts('4 items')
    await page.project.selectOption('a & b')
    await page.getByRole('columnheader').getByRole('button', { name: 'price' }).click()
    await page.open('"Mug"')
    const places = ['', 'project=a+%26+b', 'project=a+%26+b&ascending=price']
    for (const place of places.toReversed()) {
      await page.goBack()
      await hasAddress(page, place)
    }
    await page.counts('4 items')
    for (const _ of places) await page.goForward()
    await page.hasInEditor('"Mug"')

    // Escape makes the page go back from the open item. Another item that is opened meanwhile stays open.
    await page.evaluate(`{
      const back = history.back.bind(history)
      history.back = () => {
        back()
        document.dispatchEvent(new KeyboardEvent('keydown', { key: 'e' }))
      }
    }`)
    await page.press('Escape')
    await page.hasInEditor('"Mug"')
    await hasAddress(page, `project=a+%26+b&ascending=price&item=${ids[1]}`)
  })

  test('Forward answers the question that Back has asked, and Back waits for a running save', async () => {
    const { own, ids, page } = await openWith(shop)
    await page.project.selectOption('(no project_id)')
    await page.open('"Note"')
    await page.editor.fill('{"typed":1}')
    await page.goBack()
    const question = await page.asks('Discard your changes?')
    await page.goForward()
    await question.waitFor({ state: 'detached' })
    await page.hasInEditor('{"typed":1}')
    const release = await page.hold('PUT')
    await page.choose('Save')
    await until('the request', () => page.evaluate<boolean>('isHeld'))
    await page.goBack()
    await page.hasInEditor('{"typed":1}')
    await release()
    await page.closes()
    await hasAddress(page, 'project=')
    assert.match(await own.read(ids[3]), /"typed":1/)
    await page.goForward()
    await page.hasInEditor('"typed"')
  })

  test('an item that was closed stays closed on Back, and Forward opens it again', async () => {
    const { own, ids, page } = await openWith(shop)
    await page.project.selectOption('a & b')
    await hasAddress(page, 'project=a+%26+b')
    for (const by of ['Escape', 'Save']) {
      await page.open('"Mug"')
      await hasAddress(page, `project=a+%26+b&item=${ids[1]}`)
      await page.hasInEditor('"Mug"') // only the open editor takes the key
      await page.press('Alt+ArrowDown')
      await hasAddress(page, `project=a+%26+b&item=${ids[2]}`)
      if (by === 'Save') await page.save()
      else await page.press('Escape')
      await hasAddress(page, 'project=a+%26+b')
    }
    await page.goForward()
    await page.hasInEditor('"Pot"')
    await page.press('Escape')
    await hasAddress(page, 'project=a+%26+b')
    await page.choose('Filter') // an unfinished condition is not in the address
    await page.open('"Mug"')
    await hasAddress(page, `project=a+%26+b&item=${ids[1]}`)
    await page.choose('Close')
    await hasAddress(page, 'project=a+%26+b')
    await page.getByLabel('Member').waitFor()
    await page.goBack()
    await page.counts('4 items')

    const linked = await openItems(own, { address: `#item=${ids[1]}` })
    await linked.hasInEditor('"Mug"')
    const steps = await linked.evaluate('history.length')
    await linked.press('Escape')
    await hasAddress(linked, '')
    assert.equal(await linked.evaluate('history.length'), steps)
  })

  test('an address with rubbish, or with an item that is gone, shows the list and says what is missing', async () => {
    const { page } = await openWith(shop, { address: '#item=gone' })
    await page.warns('The item gone of this address is not listed.')
    await hasAddress(page, '')
    for (const [address, count] of [
      ['where=["price","is at least","5"]', '3 of 4 items'],
      ['where=7&where=%5B%5D&where=%7B', '4 items'],
      ['where=["price","equals","5"]', '1 of 4 items'],
      ['where=%5B1%2C2%2C3%5D&where=["price","is","5"]&x=&&=', '4 items'],
    ] as const) {
      await page.evaluate(`void (location.hash = '${address}')`)
      await page.counts(count)
    }
  })
})
