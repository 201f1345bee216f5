/** Tests that use the items page in Chromium as a person would. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { inChromium } from '../../support/chromium.js'
import {
  assertAccessible,
  assertUsable,
  screens,
  takePictures,
} from '../../support/guarded-page.js'
import { serviceWith, useItemsPage } from '../../support/items-page.js'
import { until } from '../../support/process.js'

const { openItems, openWith } = useItemsPage()
const goods = [
  ['Coffee, 1 kg', '12.50', '40123456789012345678', '"food","fair"'],
  ['Tea', '4.0', '40987654321098765432', '"food"'],
  ['Zürich mug', '9.90', '40111111111111111111', '"gift"'],
  ['Espresso roast', '1e1', '40222222222222222222', '"food","new"'],
  ['Paper filters', '3.20', '40333333333333333333', ''],
  ['Hand grinder', '64.00', '40444444444444444444', '"gift","new"'],
  ['Kettle, 0.9 l', '79.95', '40555555555555555555', '"sale"'],
  ['Scale', '29.00', '40666666666666666666', '"sale"'],
  ['Travel cup', '24.99', '40777777777777777777', '"gift"'],
  ['Chocolate, 70 %', '2.80', '40888888888888888888', '"food","fair"'],
].map(([title, price, ean, tags], at) => {
  const added = `2026-11-${10 + at}T09:30:00Z`
  const data = `{"title":"${title}","price":${price},"in_stock":${at % 4 !== 1},"added":"${added}","ean":${ean},"tags":[${tags}]}`
  return [data, '"shop"'] as const
})
const posts = [
  '{"title":"First post","words":1024,"draft":false}',
  '{"title":"A note","done":null}',
]
const { own: service } = await serviceWith([...goods, ...posts])

describe('the items page', inChromium, () => {
  test('the list is shown as JSON, and a new item belongs to the chosen project', async () => {
    const { page } = await openWith([
      ['{"city":"Z\\u00fcrich","rest":{"deep":7}}', '"one"'],
      ['{"city":"Bern","":true," ":null}', '"one"'],
      '{"city":"Basel"}',
    ])
    await page.counts('3 items')
    await page.project.selectOption('one')
    await page.counts('2 items')
    await page.choose('New item')
    await page.hasInEditor('"project_id": "one"')
    await page.choose('Close')
    await page.project.selectOption('All projects')

    await page.showJson()
    await page.getByText('"city":"Z\\u00fcrich","rest":{"deep":7}}').waitFor()
    // The radio buttons look like tabs: only their labels are visible.
    const opacities = await page.all('.choice input', 'getComputedStyle(each).opacity')
    assert.deepEqual(opacities, ['0', '0'])
    await page.getByLabel('Table', { exact: true }).check()
    await page.getByRole('columnheader', { name: '" "', exact: true }).waitFor()
    await assertAccessible(page)
    await page.choose('Columns')
    await page.getByRole('checkbox', { name: '""', exact: true }).waitFor()
  })

  test('columns are as wide as their values, and values of different types look different', async () => {
    const values = '"text":"plain","digits":"12","n":12,"is":true,"of":[1],"no":null'
    const options = { viewport: { width: 1800, height: 800 } } // room for all columns
    const { own, page } = await openWith([[`{"two":"a  b",${values}}`, '"p"']], options)
    await page.cell('"plain"').waitFor()
    const row = await page.evaluate<string>('document.querySelector("tbody").innerText')
    assert.match(row, /a {2}b/)
    const looks = await page.evaluate<string[]>(`
      ["plain", '"12"', "12", "true", "[1]", "null"].map((text) => {
        const cell = [...document.querySelectorAll("td")].find((cell) => cell.textContent === text)
        const { textAlign, color, fontStyle } = getComputedStyle(cell)
        return textAlign + color + fontStyle + getComputedStyle(cell, '::before').content
      })`)
    assert.equal(new Set(looks).size, 5, `${looks}`) // a string of digits keeps its quotes
    assert.equal(looks[0], looks[1])
    const isAtEnd = 'getComputedStyle(each).textAlign === "end"'
    const heads = await page.all<string>('th', `${isAtEnd} ? each.textContent : ''`)
    assert.equal(heads.join(''), 'n') // the head of the column with only numbers

    const isCut = 'each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight'
    const cut = () => page.all('td:not(:first-child, .nested)', `${isCut} ? each.textContent : ''`)
    const showsAll = () => until('no cut value', async () => (await cut()).join('') === '')
    await showsAll()
    await own.create('{"two":"A title that is longer","is":false}')
    await page.cell('"A title that is longer"').waitFor()
    await showsAll()
  })

  test('while the list arrives, a bar shows how far it is, and a search continues', async () => {
    const page = await openItems(service, { token: '' })
    await page.evaluate(`globalThis.fetch = async () => new Response(new ReadableStream({
      start(controller) {
        globalThis.arrive = (text) => controller.enqueue(new TextEncoder().encode(text))
        globalThis.finish = () => controller.close()
      }
    }), { headers: { 'content-length': '84' } })`)
    await page.useToken('x')
    await until('the request for the list', () => page.evaluate<boolean>('"arrive" in globalThis'))
    const arrive = (text: string) => page.evaluate(`arrive(${JSON.stringify(text)})`)
    await arrive('{"session_id":"x","data":[{"id":"1","v":"one"},{"id":"2","v":"two"}')
    await page.counts('2 items loaded')
    await page.locator('progress[value="0.5"]').waitFor()
    await page.search.fill('one')
    await page.counts('2 items loaded, 1 found')
    await arrive(',{"id":"3","v":"one more"}')
    await page.counts('3 items loaded, 2 found')
    await page.cell('"one more"').waitFor()
    await arrive(']}')
    await page.evaluate('finish()')
    await page.counts('2 of 3 items')
  })

  test('only items of the chosen project are requested, and again only after a change', async () => {
    const { own, id } = await serviceWith([
      ['{"v":"pear"}', '"c"'],
      ['{"v":"apple"}', '"a & b"'],
      ['{"v":"plum"}', '"\\ud800"'],
    ])
    const page = await openItems(own, { token: '' })
    const sent: string[] = []
    page.on('request', (request) => {
      const [, query] = /\/items($|\?.*)/.exec(request.url()) ?? []
      const isTagged = request.headers()['if-none-match'] !== undefined
      const entry = `${request.method()} ${query}${isTagged ? ' changed' : ''}`
      // Repetitions are left out: the page sends a wait request again if it has ended without a change.
      if (query !== undefined && sent.at(-1) !== entry) sent.push(entry)
    })
    const expected: string[] = []
    const asks = async (query: string) => {
      expected.push(`GET ${query}`, `HEAD ${query} changed`)
      await until(`${expected}`, () => `${sent}` === `${expected}`)
    }
    await page.useToken(own.validToken())
    await asks('')
    await page.counts('3 items')
    await page.project.selectOption('c')
    await asks('?project_id=c')
    await page.counts('1 item')
    await own.create('{"v":"quince"}', '"c"')
    await page.counts('2 items')
    await asks('?project_id=c')
    await page.open('"pear"')

    // When another project is selected, the item stays open in the panel, and isn't taken for deleted.
    await page.project.selectOption('a & b')
    await asks('?project_id=a%20%26%20b')
    await page.cell('"apple"').waitFor()
    assert.equal(await page.getByText('This item was deleted').count(), 0)
    await own.delete(id)
    await page.editor.fill('{"v":"pear tree"}')
    await page.choose('Save')
    await page.sees('This item was deleted.')
    await page.choose('Close', 'Discard')

    await page.project.selectOption('All projects')
    await asks('')
    await page.counts('3 items')
    // A URL cannot contain this project name, which is a lone surrogate.
    await page.project.selectOption('"\\ud800"')
    await page.counts('1 of 3 items')
    await page.project.selectOption('c')
    await page.cell('"quince"').click()
    await page.press('Delete')
    await page.choose('Delete')
    await page.sees('No item is of the project c.')
    await page.choose('Show all items')
    await page.counts('2 items')
  })

  test('a file is imported, and an export has the exact bytes of all items', async () => {
    const { own, page } = await openWith(['{"there":"before"}'])
    await page.chooseMore('Import')
    const open = (text: string) => page.openFile('some.json', text)
    const importing = page.button('Import').last()
    for (const [text, problem] of [
      ['[]', 'some.json has no items.'],
      ['[{"a":1},\n{"a":01}]', 'some.json: line 2, column 7: expected a comma'],
    ] as const) {
      await open(text)
      await page.warns(problem)
    }
    assert.equal(await importing.getAttribute('aria-disabled'), 'true')

    await page.evaluate(`{
      const { arrayBuffer } = Blob.prototype
      const released = new Promise((resolve) => { globalThis.release = resolve })
      Blob.prototype.arrayBuffer = async function () {
        Blob.prototype.arrayBuffer = arrayBuffer
        const bytes = await arrayBuffer.call(this)
        await released
        return bytes
      }
    }`)
    await open('{"of":"another file"}')
    await page.sees('Reading some.json…')

    const items = ['"n":12345678901234567890,"p":1.0', '"__proto__":{"x":1},"2":0,"1":"\\ud800"']
    await open(`{"project_id":"p",${items[0]}}\n{"data":{${items[1]}}}\n`)
    await page.sees('2 items to import.')
    await page.evaluate('release()')
    await importing.click()
    await page.sees('2 of 2 items imported.')
    await page.choose('Done')
    await page.counts('3 items')
    await page.cell('12345678901234567890').waitFor()

    const saved = page.waitForEvent('download')
    await page.chooseMore('Export')
    const download = await saved
    await page.hasFocusOn('More')
    assert.equal(download.suggestedFilename(), 'items.json')
    const file = readFileSync(await download.path(), 'utf8')
    const [, listed = ''] = /"data":\[(.*)\]\}$/s.exec(await own.list()) ?? []
    assert.equal(file.replaceAll(',\n', ',').slice(2, -3), listed)
    assert.ok(
      listed.includes(`"project_id":"p",${items[0]}}`) && listed.includes(`null,${items[1]}}`),
    )
  })

  test('HTML markup in items is shown as text', async () => {
    const markup = "<img src=x onerror='globalThis.isRun=1'><script>globalThis.isRun=1</script>"
    const unseen = '\u202e \u202b \u200b \u2067' // characters that change the direction of text or have no width
    const { own, id, page } = await openWith([
      [`{"${markup}":"${markup}","x":"${unseen}"}`, `"${markup}"`],
    ])
    await page.cell(`"${markup}"`).first().waitFor()
    await page.locator('.open').click()
    await page.editor.waitFor()
    const special = page.locator('.cm-specialChar')
    await until('four marked characters', async () => (await special.count()) === 4)
    await page.editor.fill('{}') // an untouched panel follows its item
    await own.replace(id, `{"other":"${markup}"}`)
    await page.sees('This item was changed elsewhere.', `"other": "${markup}"`)
    await page.choose('Edit the other version', 'Close')
    assert.equal(await page.evaluate('String(globalThis.isRun)'), 'undefined')
    assert.equal(await page.locator('img:not(.brand img), #page script').count(), 0)
  })

  test('a long list keeps its scroll position when items change or are deleted', async () => {
    const { own, ids, page } = await openWith(
      Array.from({ length: 300 }, (_, number) => `{"n":${number}}`),
    )
    await page.counts('300 items')
    await page.evaluate('void (document.querySelector("[role=grid]").scrollTop = 200 * 36)')
    await page.cell('200').waitFor()
    const place = async () => (await page.cell('205').boundingBox())?.y
    const before = await place()
    assert.ok((await page.locator('tbody tr').count()) < 60)
    await page.open('205')
    await page.hasInEditor('"n": 205}')
    await page.choose('Close')
    for (const id of ids.slice(0, 7)) await own.delete(id)
    await page.counts('293 items')
    const release = await page.hold()
    for (const id of ids.slice(100, 203)) await own.delete(id)
    await release()
    await page.counts('190 items')
    assert.equal(await place(), before)
  })

  test('the keyboard alone can find, edit, add, duplicate and delete items, but acts only on the top dialog or field', async () => {
    const { own, page } = await openWith(['{"name":"first"}', '{"name":"second",\n"z":0}'])
    await page.cell('"second"').waitFor()
    await page.press('?')
    await page.asks('Shortcuts')
    await page.press('n', 'Escape') // a dialog is open, which ignores `n`
    await page.closes()
    await page.press('/', 'n', '/')
    assert.equal(await page.search.inputValue(), 'n/')
    await page.press('Backspace', 'Backspace')
    await page.press('ArrowDown', 'Home') // works wherever the focus is
    await page.hasFocus()
    await page.isActive('"first"')
    await page.emulateMedia({ forcedColors: 'active' })
    assert.deepEqual(await page.all('tr.active', 'getComputedStyle(each).outlineStyle'), ['solid'])
    await page.emulateMedia({ forcedColors: 'none' })
    await page.button('More').focus()
    await page.press('End', 'Enter')
    await page.hasInEditor('"second"')
    await page.hasFocus('.editor')
    await page.press('Control+Home', 'End')
    await page.keyboard.type(' "more": 1,')
    await page.press('Control+Enter')
    await page.closes()
    const list = await own.list()
    assert.ok(list.includes('"more": 1,"name":"second",\n"z":0}'), list)
    await page.isActive('1')
    await page.hasFocus()

    await page.press('d')
    await page.hasFocus('.editor')
    await page.press('Control+Enter')
    await page.closes()
    await page.counts('3 items')
    await page.press('Home', 'Delete')
    const question = await page.asks('Delete this item?')
    await question.getByText('"project_id":null,"name":"first"}').waitFor()
    await page.hasFocusOn('Cancel')
    await page.press('Tab', 'Enter')
    await page.counts('2 items')
    await page.isActive('"second"')
    await page.button('More').press('Enter')
    await page.button('Import').press('Enter')
    await page.asks('Import items')
    await page.press('Escape', 'n')
    await page.hasFocus('.editor')
    const lineStart = ['Control+Home', 'Shift+ArrowRight', 'Shift+ArrowRight']
    await page.press(...lineStart, 'x', 'Escape') // typing over lines must not make the browser add styles
    const discard = await page.asks('Discard your changes?')
    await page.press('Escape')
    await discard.waitFor({ state: 'detached' })
    await page.press('Escape', 'Tab', 'Enter')
    await page.dialog.waitFor({ state: 'detached' })
  })

  test('the panel shows the item of the active row, or a new item with the members that most items have', async () => {
    const { own, page } = await openWith([
      '{"name":null,"n":-1.5,"is":true,"of":[1],"in":{"x":1},"no":null,"odd":1}',
      '{"name":"b","n":2,"is":false,"of":[],"in":{},"no":null}',
      ['{"city":"Bern"}', '"places"'],
    ])
    await page.open('-1.5')
    await page.hasFocus('.editor')
    await page.press('Alt+ArrowDown')
    await page.hasInEditor('"n": 2')
    await page.hasFocus('.editor')
    await page.press('Control+z') // must not bring back the text of the other item
    await page.hasInEditor('"n": 2')
    await page.press('Alt+ArrowUp')
    await page.hasInEditor('"n": -1.5')
    await page.choose('Next row')
    await page.hasInEditor('"n": 2')
    await page.cell('"Bern"').click()
    await page.hasInEditor('"Bern"')
    await page.hasFocus()
    await page.press('ArrowUp')
    await page.hasInEditor('"n": 2')
    await page.hasFocus()
    await page.press('e')
    await page.hasFocus('.editor')
    await page.press('Escape')
    await page.closes()
    await page.hasFocus()

    await page.press('n')
    await page.hasFocus('.editor')
    await page.hasInEditor('"n": 0,  "is": false,  "of": [],  "in": {},  "no": null}')
    await page.keyboard.type('typed') // the cursor is in the first value
    await page.save()
    assert.match(await own.list(), /"name": "typed",\n {2}"n": 0,/)
    await page.cell('"Bern"').click()
    await page.press('n')
    await page.hasInEditor('{  "project_id": "places",  "city": ""}')
  })

  for (const [screen, viewport] of Object.entries(screens)) {
    test(`the items page on a ${screen} screen, light and dark, passes axe-core and fits`, async () => {
      const page = await openItems(service, { viewport })
      const check = () => assertUsable(page)
      await page.getByText('Coffee, 1 kg').waitFor()
      await check()
      await takePictures(page, `items-page-${screen}`, 'tbody')

      await page.chooseMore('Import')
      await page.openFile('a.json', posts.join('\n'))
      await page.sees('2 items to import.')
      await check()
      await page.choose('Close')

      await page.open('"Tea"')
      await page.editor.press('Control+End')
      await page.keyboard.type(',')
      await page.sees('unexpected text after the value')
      await check()
      if (screen === 'wide') await takePictures(page, 'items-page-edit-wide')
      await page.editor.press('Control+End')
      await page.keyboard.type('\n'.repeat(40)) // more lines than the editor can show
      await check()
      await page.choose('Close')
      await page.asks('Discard your changes?')
      await check()
      await page.choose('Discard')

      await page.showJson()
      await page.locator('.whole').first().waitFor()
      const start = `(() => {
        const range = document.createRange()
        range.selectNodeContents(each.lastChild)
        return range.getClientRects()[0].left
      })()`
      const starts = await page.all<number>('.grid :is(th, td)', start)
      assert.equal(new Set(starts).size, 1, `the text of the head and the rows begins at ${starts}`)
      const isBroken = 'each.textContent.length < 43 && each.getBoundingClientRect().height > 20'
      const broken = await page.all('.whole', isBroken)
      assert.ok(!broken.includes(true), 'members that fit into a line are broken')
      await until('rows of several lines, most of which are full', async () => {
        const rows = await page.all<[text: number, row: number]>(
          '.grid td > :last-child',
          '[each.clientHeight, each.closest("tr").offsetHeight - 15]', // without padding and border
        )
        const full = rows.filter(([text, row]) => text === row)
        return full.length >= rows.length / 2 && rows.some(([text]) => text > 20)
      })
      await check()
      await page.getByLabel('Table', { exact: true }).check()
      for (const button of ['Columns', 'Shortcuts', 'Token']) {
        if (button === 'Shortcuts') await page.press('?')
        else await page.getByRole('button', { name: button }).first().click()
        await page.asks(button)
        await check()
        await page.choose('Close')
      }
    })
  }
})
