/** Tests that use the items page in Chromium as a person would. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { inChromium } from '../../support/chromium.js'
import {
  assertAccessible,
  assertUsable,
  inEachScheme,
  screens,
  takePictures,
} from '../../support/guarded-page.js'
import {
  createdBy,
  readBack,
  replacedBy,
  serviceWith,
  useItemsPage,
} from '../../support/items-page.js'
import { type OwnService, ownService } from '../../support/own-service.js'
import { until } from '../../support/until.js'

const { openItems, openWith } = useItemsPage()
const { own: service } = await serviceWith()

async function onlyId(service: OwnService): Promise<string> {
  const { text } = await service.call('GET', '/items')
  const ids = [...text.matchAll(/"id":"([^"]+)"/g)].map(([, id = '']) => id)
  assert.equal(ids.length, 1, text)
  return ids[0] ?? ''
}

describe('the items page', inChromium, () => {
  test('numbers stay exact when an item is created, shown, changed elsewhere, saved, and read back', async () => {
    const { own, page } = await openWith([])
    await page.counts('0 items')
    await page.choose('New item')
    await page.editor.fill('{"n": 12345678901234567890, "p": 1.0}')
    await page.choose('Save')
    await page.cell('12345678901234567890').waitFor()
    await page.cell('1.0').waitFor()
    const id = await onlyId(own)
    const created = `{"id":"${id}","project_id":null,"n": 12345678901234567890, "p": 1.0}`
    assert.equal(await readBack(own, id), created)

    const data = '{"n": 12345678901234567890, "p": 1.0, "e":1e400,"__proto__":{"x":-0},"2":2,"1":1}'
    await replacedBy(own, id, data)
    await page.cell('1e400').waitFor()
    await page.cell('{"x":-0}').waitFor()

    await page.open('1e400')
    await page.editor.press('Control+End')
    await page.keyboard.type(' ')
    await page.save()
    const laidOut = await readBack(own, id)
    const elsewhere = `{"id":"${id}","project_id":null,${data.slice(1)}`
    assert.notEqual(laidOut, elsewhere)
    assert.equal(laidOut?.replaceAll(/\s/g, ''), elsewhere.replaceAll(/\s/g, ''))
  })

  test('an item opens indented, and is saved with its original white space unless the user changes it', async () => {
    const { own } = await serviceWith()
    const data = '{"n":1.0,\t"of": [1,\r\n2]}'
    const id = await createdBy(own, data)
    const stored = await readBack(own, id)
    const page = await openItems(own)
    await page.open('1.0')
    const hasLines = (count: number) =>
      until(`${count} lines`, async () => (await page.locator('.cm-line').count()) === count)
    await hasLines(9)
    await page.choose('Close') // without a question, as nothing has changed
    await page.dialog.waitFor({ state: 'detached' })
    await page.open('1.0')
    await page.editor.press('Control+End')
    await page.keyboard.type('x')
    await page.keyboard.press('Backspace')
    await page.choose('Format')
    await page.save()
    assert.equal(await readBack(own, id), stored)

    await page.open('1.0')
    await page.choose('Duplicate')
    await page.getByRole('dialog', { name: 'New item' }).waitFor()
    await hasLines(8)
    await page.save()
    await page.counts('2 items')
    assert.equal((await own.call('GET', '/items')).text.split(data.slice(1)).length, 3)

    await page.open('1.0')
    await page.editor.press('Control+Home')
    await page.editor.press('End')
    await page.keyboard.type('"more":1,')
    await page.save()
    const saved = '"more":1,\n  "n": 1.0,\n  "of": [\n    1,\n    2\n  ]}'
    assert.equal(await readBack(own, id), `{"id":"${id}","project_id":null,${saved}`)
  })

  test('typing replaces selected lines, even before the editor has received the selection', async () => {
    const { own, ids, page } = await openWith(['{"n":1.0,"s":"x"}'])
    await page.open('1.0')
    await page.editor.press('Control+End')
    for (const key of [
      'ArrowUp',
      'ArrowUp',
      'End',
      'ArrowLeft',
      'Shift+Control+End',
      'Shift+ArrowLeft',
    ]) {
      await page.keyboard.press(key)
    }
    await page.keyboard.type('25')
    await page.save()
    assert.equal(
      await readBack(own, ids[0] ?? ''),
      `{"id":"${ids[0]}","project_id":null,"n": 1.025}`,
    )

    // Simulates a busy machine, on which the parser has no time left and the selection event comes late.
    await page.evaluate(`{
      const { now } = Date
      let late = 0
      Date.now = () => now() + (late += 40)
      document.addEventListener('selectionchange', (event) => {
        if (event.isTrusted) event.stopImmediatePropagation()
      })
    }`)
    await page.choose('New item')
    await page.editor.fill('{"n": 7.0}')
    await page.save()
    assert.ok((await own.call('GET', '/items')).text.endsWith('"project_id":null,"n": 7.0}]}'))
  })

  test('the list is searched in any letter case, filtered by project, shown as JSON, and has chosen columns', async () => {
    const { own } = await serviceWith()
    await createdBy(own, '{"city":"Z\\u00fcrich","rest":{"deep":7}}', '"one"')
    await createdBy(own, '{"city":"Bern","":true," ":null}', '"one"')
    await createdBy(own, '{"city":"Basel"}')
    const page = await openItems(own)
    await page.cell('"Zürich"').waitFor()
    await page.open('"Bern"')
    await page.choose('Close')
    await page.getByRole('searchbox').fill('zürICH')
    await page.counts('1 of 3 items')
    assert.equal(await page.locator('tr.active').count(), 0)
    await page.getByRole('searchbox').fill('')
    await page.locator('tr.active').getByRole('gridcell', { name: '"Bern"' }).waitFor()
    const outlineOfActive = () =>
      page.evaluate('getComputedStyle(document.querySelector("tr.active")).outlineStyle')
    assert.equal(await outlineOfActive(), 'none')
    await page.emulateMedia({ forcedColors: 'active' })
    assert.equal(await outlineOfActive(), 'solid')
    await page.emulateMedia({ forcedColors: 'none' })
    const project = page.getByRole('combobox', { name: 'Project' })
    await project.selectOption('one')
    await page.counts('2 items')
    await project.selectOption('(no project_id)')
    await page.counts('1 of 3 items')
    await page.cell('"Basel"').waitFor()
    assert.equal(await page.cell('"Bern"').count(), 0)

    await project.selectOption('one')
    await page.choose('New item')
    assert.match((await page.editor.textContent()) ?? '', /"project_id": "one"/)
    await page.choose('Close')
    await project.selectOption('All projects')

    await page.getByLabel('JSON', { exact: true }).check()
    await page.getByText('"city":"Z\\u00fcrich","rest":{"deep":7}}').waitFor()
    await page.getByLabel('Table', { exact: true }).check()
    await page.getByRole('columnheader', { name: '" "', exact: true }).waitFor()
    await assertAccessible(page)
    await page.choose('Columns')
    await page.getByRole('checkbox', { name: '""', exact: true }).waitFor()
    await assertAccessible(page)
    await page.getByRole('checkbox', { name: 'rest' }).uncheck()
    await page.choose('Close')
    await page.cell('{"deep":7}').waitFor({ state: 'detached' })
  })

  test('a click or Enter on a column head sorts by exact values, and the next one reverses the order', async () => {
    const values = ['12345678901234567891', '1e19', '"x"', '12345678901234567890']
    const { own, page } = await openWith([...values.map((n) => `{"n":${n}}`), '{"m":1}'])
    await page.counts('5 items')
    const column = () =>
      page.evaluate<string[]>(
        '[...document.querySelectorAll("tbody tr td:nth-child(3)")].map((cell) => cell.ariaLabel ?? cell.textContent)',
      )
    const shows = (...expected: string[]) =>
      until(`${expected}`, async () => `${await column()}` === `${expected}`)
    const [small, big, bigger] = ['1e19', '12345678901234567890', '12345678901234567891']
    const head = page.getByRole('columnheader', { name: 'n', exact: true })
    await head.getByRole('button').press('Enter')
    await shows(small, big, bigger, '"x"', '')
    assert.equal(await head.getAttribute('aria-sort'), 'ascending')
    await assertAccessible(page)
    await page.open('"x"')
    await page.choose('Close')
    await createdBy(own, '{"n":-1}')
    await shows('-1', small, big, bigger, '"x"', '')
    await page.locator('tr.active').getByText('x').waitFor()
    await head.getByRole('button').click()
    await shows('"x"', bigger, big, small, '-1', '')
    await page.getByRole('searchbox').fill('8901')
    await shows(bigger, big)
    await page.getByRole('searchbox').fill('')
    await head.getByRole('button').click()
    await shows(bigger, small, '"x"', big, '', '-1')
    assert.equal(await head.getAttribute('aria-sort'), null)
  })

  test('columns are as wide as their values, types of values look different, and no row is empty', async () => {
    const { own } = await serviceWith()
    const { own: other } = await serviceWith()
    const names = Array.from({ length: 40 }, (_, number) => `"a${number}":true`)
    const title = 'A title of some length'
    for (let count = 0; count < 2; count += 1) {
      await createdBy(own, `{"title":"${title}",${names}}`)
    }
    await createdBy(own, '{"odd":1.50,"even":"2"}')
    const page = await openItems(own)
    const cell = page.cell(`"${title}"`).first()
    await cell.waitFor()
    const cut = () =>
      page.evaluate<string[]>(
        '[...document.querySelectorAll("td:not(:first-child)")].filter((cell) => cell.scrollWidth > cell.clientWidth || cell.scrollHeight > cell.clientHeight).map((cell) => cell.textContent)',
      )
    assert.deepEqual(await cut(), [])
    const longer = 'A title that is longer'
    await createdBy(own, `{"title":"${longer}","a1":false}`)
    await page.cell(`"${longer}"`).waitFor()
    await until('no truncated cell', async () => (await cut()).length === 0)
    const widths = await page.evaluate<number[]>(
      '["title", "a1"].map((name) => [...document.querySelectorAll("th")].find((head) => head.textContent === name).offsetWidth)',
    )
    assert.ok((widths[0] ?? 0) > 2 * (widths[1] ?? 0), `${widths}`)
    await page.cell('project_id: null odd: 1.50 even: "2"').waitFor()
    // Checks the page at the beginning of the animation that marks all rows as changed.
    await inEachScheme(page, async () => {
      // An animation keeps the colours of the scheme in which it began.
      await page.evaluate(`
        for (const row of document.querySelectorAll('tbody tr')) {
          row.classList.remove('changed')
          void row.offsetWidth
          row.classList.add('changed')
        }
        for (const mark of document.getAnimations()) {
          mark.pause()
          mark.currentTime = 0
        }`)
      await assertAccessible(page)
    })

    await createdBy(
      other,
      '{"text":"plain","two":"a  b","digits":"12","n":12,"is":true,"of":[1],"no":null}',
      '"p"',
    )
    const types = await openItems(other)
    await types.cell('"plain"').waitFor()
    assert.match(
      await types.evaluate<string>('document.querySelector("tbody").innerText'),
      /a {2}b/,
    )
    const looks = await types.evaluate<string[]>(`
      ["plain", '"12"', "12", "true", "[1]", "null"].map((text) => {
        const cell = [...document.querySelectorAll("td")].find((cell) => cell.textContent === text)
        const { textAlign, color, fontStyle } = getComputedStyle(cell)
        return textAlign + color + fontStyle + getComputedStyle(cell, '::before').content
      })`)
    assert.equal(new Set(looks).size, 5, `${looks}`) // a string of digits keeps its quotes
    assert.equal(looks[0], looks[1])
  })

  test('a search continues while the list arrives', async () => {
    const page = await openItems(service, { token: '' })
    await page.evaluate(`globalThis.fetch = async () => new Response(new ReadableStream({
      start(controller) {
        globalThis.arrive = (text) => controller.enqueue(new TextEncoder().encode(text))
        globalThis.finish = () => controller.close()
      }
    }))`)
    await page.getByRole('dialog').getByLabel('Token').fill('x')
    await page.choose('Use this token')
    await until('the request for the list', () => page.evaluate<boolean>('"arrive" in globalThis'))
    const arrive = (text: string) => page.evaluate(`arrive(${JSON.stringify(text)})`)
    await arrive('{"session_id":"x","data":[{"id":"1","v":"one"},{"id":"2","v":"two"}')
    await page.counts('2 items loaded')
    await page.getByRole('searchbox').fill('one')
    await page.counts('2 items loaded, 1 found')
    await arrive(',{"id":"3","v":"one more"}')
    await page.counts('3 items loaded, 2 found')
    await page.cell('"one more"').waitFor()
    await arrive(']}')
    await page.evaluate('finish()')
    await page.counts('2 of 3 items')
  })

  test('the list is requested again only after a change', async () => {
    const { own } = await serviceWith()
    await createdBy(own, '{"v":"old"}')
    const page = await openItems(own, { token: '' })
    let lists = 0
    let waits = 0
    page.on('request', (request) => {
      if (!request.url().endsWith('/items')) return
      if (request.method() === 'GET') lists += 1
      if (request.method() === 'HEAD' && request.headers()['if-none-match']) waits += 1
    })
    await page.getByRole('dialog').getByLabel('Token').fill(own.validToken())
    await page.choose('Use this token')
    await page.cell('"old"').waitFor()
    await until('the read that waits', () => waits >= 1)
    assert.equal(lists, 1)
    await createdBy(own, '{"v":"new"}')
    await page.cell('"new"').waitFor()
    await page.counts('2 items · 1 new or changed')
    assert.equal(lists, 2)
    await until('the next wait', () => waits >= 2)
    assert.equal(lists, 2)
  })

  test('if a project is chosen, only its items are requested, and only their changes are waited for', async () => {
    const { own } = await serviceWith()
    await createdBy(own, '{"v":"apple"}', '"a & b"')
    const id = await createdBy(own, '{"v":"pear"}', '"c"')
    await createdBy(own, '{"v":"plum"}', '"\\ud800"')
    const page = await openItems(own)
    await page.counts('3 items')
    const asked: string[] = []
    page.on('request', (request) => asked.push(`${request.method()} ${request.url()}`))
    const asks = async (method: string, query: string) => {
      const request = `${method} ${own.baseUrl.href}/items${query}`
      await until(request, () => asked.includes(request))
      const others = asked.filter(
        (each) => each.includes('/items') && !each.endsWith(`/items${query}`),
      )
      assert.deepEqual(others, [])
      asked.length = 0
    }
    const project = page.getByRole('combobox', { name: 'Project' })
    await project.selectOption('c')
    await asks('GET', '?project_id=c')
    await page.counts('1 item')
    await asks('HEAD', '?project_id=c')
    await createdBy(own, '{"v":"quince"}', '"c"')
    await page.counts('2 items · 1 new or changed')
    await page.open('"pear"')
    await page.editor.waitFor()

    // The item in the panel stays open, and does not count as deleted.
    asked.length = 0
    await project.selectOption('a & b')
    await asks('GET', '?project_id=a%20%26%20b')
    await page.cell('"apple"').waitFor()
    await page.counts('1 item')
    assert.equal(await page.getByText('deleted elsewhere').count(), 0)
    const token = own.validToken()
    await own.request('DELETE', `/items/${id}`, { token })
    await page.editor.fill('{"v":"pear tree"}')
    await page.choose('Save')
    await page.sees('This item was deleted elsewhere.')
    await page.choose('Close')
    await page.choose('Discard')

    asked.length = 0
    await project.selectOption('All projects')
    await asks('GET', '')
    await page.counts('3 items')
    await page.cell('"quince"').waitFor()
    // A URL cannot contain this project name, which is a lone surrogate.
    await project.selectOption('"\\ud800"')
    await page.counts('1 of 3 items')
    await page.cell('"plum"').waitFor()

    await project.selectOption('c')
    await page.cell('"quince"').click()
    await page.keyboard.press('Delete')
    await page.choose('Delete')
    await page.sees('No item is of the project c.')
    await page.choose('Show all items')
    await page.counts('2 items')
  })

  test('a failed request can be retried or its message closed, and the focus then moves to the list', async () => {
    let isCut = true
    const page = await openItems(service, {
      expected: /net::ERR_FAILED/,
      isCut: ({ pathname }) => isCut && pathname.startsWith('/api/'),
    })
    const again = page.getByRole('button', { name: 'Try again' })
    await again.waitFor()
    await page.chooseMore('Export')
    await page.getByRole('alert').getByText('Not exported.').waitFor()
    assert.equal(await page.getByRole('alert').count(), 1) // the cause is shown only once
    await page.choose('Close')
    await again.focus()
    isCut = false
    const release = await page.hold()
    await page.keyboard.press('Space') // has no effect on the list if the list has already arrived
    await page.getByRole('button', { name: 'Trying again…' }).waitFor()
    await release()
    await page.counts('12 items')
    await again.waitFor({ state: 'detached' })
    await page.hasFocus()

    isCut = true
    await page.chooseMore('Export')
    await page.sees(/Not exported\./)
    await page.getByRole('alert').getByRole('button', { name: 'Close' }).press('Enter')
    await page.getByText(/Not exported\./).waitFor({ state: 'detached' })
    await page.hasFocus()
  })

  test('a file is imported, and an export has the exact bytes of all items', async () => {
    const { own, page } = await openWith(['{"there":"before"}'])
    await page.chooseMore('Import')
    const open = (text: string) => page.openFile('some.json', text)
    const importing = page.getByRole('button', { name: 'Import', exact: true }).last()
    for (const [text, problem] of [
      ['[]', 'some.json has no items.'],
      [' [\n] \n', 'some.json has no items.'],
      ['[{"a":1},\n{"a":01}]', 'some.json: line 2, column 7: expected a comma'],
    ] as const) {
      await open(text)
      await page.getByRole('alert').getByText(problem).waitFor()
      assert.equal(await importing.getAttribute('aria-disabled'), 'true')
      await open('[{}]')
      await page.sees('1 item to import.')
      await page.getByRole('alert').waitFor({ state: 'detached' })
    }

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
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Done')
    await page.choose('Done')
    await page.counts('3 items')
    await page.cell('12345678901234567890').waitFor()

    const saved = page.waitForEvent('download')
    await page.chooseMore('Export')
    const download = await saved
    assert.equal(await page.evaluate('document.activeElement.textContent'), ' More')
    assert.equal(download.suggestedFilename(), 'items.json')
    const file = readFileSync(await download.path(), 'utf8')
    const [, listed = ''] = /"data":\[(.*)\]\}$/s.exec((await own.call('GET', '/items')).text) ?? []
    assert.equal(file.replaceAll(',\n', ',').slice(2, -3), listed)
    assert.ok(
      listed.includes(`"project_id":"p",${items[0]}}`) && listed.includes(`null,${items[1]}}`),
    )
  })

  test('the items page and the API page link to each other if both are served, and share the token', async () => {
    const { own } = await serviceWith()
    const token = own.validToken()
    const page = await openItems(own, { token })
    await page.counts('0 items')
    await page.getByRole('link', { name: 'API' }).click()
    await page.getByRole('heading', { name: 'Models' }).waitFor()
    assert.equal(await page.getByLabel('Token', { exact: true }).inputValue(), token)
    await page.getByRole('link', { name: 'Items', exact: true }).press('Enter')
    await page.counts('0 items')
    await page.reload()
    await page.counts('0 items')

    const alone = await openItems(await ownService({ CONSOLE: 'on', DOCS: 'off' }))
    await alone.counts('0 items')
    assert.equal(await alone.getByRole('link').count(), 0)
  })

  test('HTML markup in items is shown as text', async () => {
    const { own } = await serviceWith()
    const markup = "<img src=x onerror='globalThis.isRun=1'><script>globalThis.isRun=1</script>"
    const unseen = '\u202e \u202b \u200b \u2067' // characters that change the direction of text or have no width
    const id = await createdBy(own, `{"${markup}":"${markup}","x":"${unseen}"}`, `"${markup}"`)
    const page = await openItems(own)
    await page.cell(`"${markup}"`).first().waitFor()
    await page.getByLabel('JSON', { exact: true }).check()
    await page.getByRole('gridcell').click()
    await page.editor.waitFor()
    assert.equal(await page.locator('.cm-specialChar').count(), 4)
    await replacedBy(own, id, `{"other":"${markup}"}`)
    await page.choose('Save')
    await page.sees('This item was changed elsewhere.')
    await page.sees(`"other": "${markup}"`)
    await page.choose('Edit the other version')
    await page.choose('Close')
    assert.equal(await page.evaluate('String(globalThis.isRun)'), 'undefined')
    assert.equal(
      await page.evaluate('document.querySelectorAll("img:not(.brand img), #page script").length'),
      0,
    )
  })

  test('a long list keeps its scroll position when items change or are deleted', async () => {
    const numbers = Array.from({ length: 300 }, (_, number) => `{"n":${number}}`)
    const { own, ids, page } = await openWith([...numbers])
    await page.counts('300 items')
    await page.evaluate('void (document.querySelector("[role=grid]").scrollTop = 200 * 36)')
    await page.cell('200').waitFor()
    const place = () =>
      page.evaluate<number>(
        '[...document.querySelectorAll("td")].find((cell) => cell.textContent === "205").getBoundingClientRect().top',
      )
    const before = await place()
    await page.open('205')
    assert.match((await page.editor.textContent()) ?? '', /"n": 205\}/)
    await page.choose('Close')
    assert.equal(await place(), before)

    for (const id of ids.slice(0, 7)) await own.call('DELETE', `/items/${id}`)
    await page.counts('293 items')
    assert.equal(await place(), before)
    const release = await page.hold()
    for (const id of ids.slice(100, 203)) await own.call('DELETE', `/items/${id}`)
    await release()
    await page.counts('190 items')
    assert.equal(await place(), before)
    await page.getByLabel('JSON', { exact: true }).check()
    await page.getByText('"n":203}').waitFor()
  })

  test('the keyboard alone can find, edit, add, duplicate and delete items', async () => {
    const { own, page } = await openWith(['{"name":"first"}', '{"name":"second",\n"z":0}'])
    await page.cell('"second"').waitFor()
    const { press, type } = page.keyboard
    const key = (name: string) => press.call(page.keyboard, name)
    await key('ArrowDown') // works wherever the focus is
    await page.hasFocus()
    await page.locator('tr.active').getByRole('gridcell', { name: '"first"' }).waitFor()
    await key('ArrowDown')
    await key('Enter')
    await page.editor.waitFor()
    await page.hasFocus('.editor')
    assert.match((await page.editor.textContent()) ?? '', /"second"/)
    await key('Control+Home')
    await key('End')
    await type.call(page.keyboard, ' "more": 1,')
    await key('Control+Enter')
    await page.dialog.waitFor({ state: 'detached' })
    const list = (await own.call('GET', '/items')).text
    assert.ok(list.includes('"more": 1,\n  "name": "second",\n  "z": 0}'), list)
    await page.locator('tr.active').getByText('1', { exact: true }).waitFor()
    await page.hasFocus()

    await key('d')
    await page.editor.waitFor()
    await page.hasFocus('.editor')
    await key('Control+Enter')
    await page.counts('3 items')
    await key('Home')
    await key('Delete')
    await page
      .getByRole('dialog', { name: 'Delete this item?' })
      .getByText('"project_id":null,"name":"first"}')
      .waitFor()
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Cancel')
    await key('Tab')
    await key('Enter')
    await page.counts('2 items')
    await page.locator('tr.active').getByRole('gridcell', { name: '"second"' }).waitFor()
    assert.ok(!(await own.call('GET', '/items')).text.includes('"first"'))

    await key('n')
    await page.editor.waitFor()
    await page.hasFocus('.editor')
    await type.call(page.keyboard, 'x')
    await key('Escape')
    await page.getByRole('dialog', { name: 'Discard your changes?' }).waitFor()
    await key('Escape')
    await page.getByRole('dialog', { name: 'Discard your changes?' }).waitFor({ state: 'detached' })
    await key('Escape')
    await key('Tab')
    await key('Enter')
    await page.dialog.waitFor({ state: 'detached' })

    await key('?')
    await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor()
    await key('Escape')
    await key('/')
    await page.hasFocus('[type=search]')
  })

  test('shortcuts work as soon as the page has loaded, but not in text fields and dialogs', async () => {
    const { page } = await openWith(['{"name":"n/"}'])
    await page.cell('"n/"').waitFor()
    const { keyboard } = page
    await keyboard.press('?')
    await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor()
    await keyboard.press('n') // ignored, as a dialog is open
    await keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await keyboard.press('/')
    await keyboard.type('n/')
    assert.equal(await page.getByRole('searchbox').inputValue(), 'n/')
    await keyboard.press('ArrowDown')
    await page.locator('tr.active').waitFor()
    await page.hasFocus()
    await page.getByRole('button', { name: 'More' }).focus()
    await keyboard.press('End')
    await page.locator('tr.active').waitFor()
    await page.getByRole('button', { name: 'More' }).focus()
    await keyboard.press('Enter')
    await page.getByRole('button', { name: 'Import' }).press('Enter')
    await page.getByRole('dialog', { name: 'Import items' }).waitFor()
    await keyboard.press('Escape')
    await keyboard.press('n')
    await page.getByRole('dialog', { name: 'New item' }).waitFor()
  })

  test('an empty list says why it is empty, and what to do', async () => {
    const { own } = await serviceWith()
    const page = await openItems(own, { token: '' })
    const check = () => assertUsable(page)
    await page.choose('Close')
    await page.sees('The service shows items only with a token.')
    await check()
    await page.getByRole('region').getByRole('button', { name: 'Enter a token' }).press('Enter')
    const token = own.validToken()
    await page.getByRole('dialog').getByLabel('Token').fill(token)
    await page.choose('Use this token')

    await page.sees('No items yet')
    await check()
    for (const [button, title] of [
      ['New item', 'New item'],
      ['Import', 'Import items'],
    ] as const) {
      await page.getByRole('region').getByRole('button', { name: button }).press('Enter')
      await page.getByRole('dialog', { name: title }).waitFor()
      await page.choose('Close')
    }
    const shown = (await page.getByRole('region').locator('pre').textContent()) ?? ''
    assert.ok(shown.includes('$TOKEN') && !shown.includes(token))
    const copied = await page.watchClipboard()
    await page.getByRole('button', { name: 'Copy command with token' }).press('Enter')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const input = (await copied()).replace('curl', 'curl -s -m 10')
    await promisify(execFile)('sh', ['-c', input])
    await page.cell('"First item"').waitFor()

    await page.getByRole('searchbox').fill('second')
    await page.sees('No item contains “second”.')
    await check()
    await page.getByRole('button', { name: 'Show all items' }).press('Enter')
    await page.cell('"First item"').waitFor()
    await page.hasFocus()
    assert.equal(await page.getByRole('searchbox').inputValue(), '')
  })

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
  ]
  const posts = [
    '{"title":"First post","words":1024,"draft":false}',
    '{"title":"A note","done":null}',
  ]
  const file = posts.join('\n')

  before(async () => {
    for (const [at, [title, price, ean, tags]] of goods.entries()) {
      const added = `2026-11-${10 + at}T09:30:00Z`
      const data = `{"title":"${title}","price":${price},"in_stock":${at % 4 !== 1},"added":"${added}","ean":${ean},"tags":[${tags}]}`
      await createdBy(service, data, '"shop"')
    }
    for (const data of posts) await createdBy(service, data)
  })

  for (const [screen, viewport] of Object.entries(screens)) {
    test(`the items page on a ${screen} screen, light and dark, passes axe-core and fits`, async () => {
      const page = await openItems(service, { viewport })
      const check = () => assertUsable(page)
      await page.getByText('Coffee, 1 kg').waitFor()
      await check()
      await takePictures(page, `items-page-${screen}`, 'tbody')

      await page.chooseMore('Import')
      await page.openFile('a.json', file)
      await page.sees('2 items to import.')
      await check()
      await page.choose('Close')

      await page.open('"Tea"')
      await page.editor.waitFor()
      await page.choose('Format')
      await page.editor.press('Control+End')
      await page.keyboard.type(',')
      await page.sees('unexpected text after the value')
      await check()
      if (screen === 'wide') await takePictures(page, 'items-page-edit-wide')
      await page.editor.press('Control+End')
      await page.keyboard.type('\n'.repeat(40)) // more lines than the editor can show
      await check()
      await page.choose('Close')
      await page.getByRole('dialog', { name: 'Discard your changes?' }).waitFor()
      await check()
      await page.choose('Discard')

      await page.getByLabel('JSON', { exact: true }).check()
      await page.locator('.whole').first().waitFor()
      const [lefts, lines, broken] = await page.evaluate<[number[], number[], number]>(`(() => {
        const cells = [...document.querySelectorAll('.grid :is(th, td)')]
        const start = ({ lastChild }) => {
          const range = document.createRange()
          range.selectNodeContents(lastChild)
          return range.getClientRects()[0].left
        }
        const texts = [...document.querySelectorAll('.grid td > :last-child')]
        const lines = texts.map(({ clientHeight }) => clientHeight / parseFloat(getComputedStyle(cells[1]).lineHeight))
        const space = parseFloat(getComputedStyle(cells[1]).paddingTop) * 2 + 1
        const fitting = texts.filter((text) => text.clientHeight + space === text.closest('tr').offsetHeight)
        const broken = [...document.querySelectorAll('.whole')].filter((each) => each.textContent.length < 43 && each.clientHeight > 20)
        return [cells.map(start), [fitting.length / texts.length, Math.max(...lines)], broken.length]
      })()`)
      assert.equal(new Set(lefts).size, 1, `the head and the rows begin at ${lefts}`)
      const [full = 0, most = 0] = lines
      assert.ok(full >= 0.5 && most > 1, `${full} of the rows have no empty line, of ${most} lines`)
      assert.equal(broken, 0, 'members that fit into a line are broken')
      await check()
      await page.getByLabel('Table', { exact: true }).check()
      for (const button of ['Columns', 'Shortcuts', 'Token']) {
        if (button === 'Shortcuts') await page.keyboard.press('?')
        else await page.getByRole('button', { name: button }).first().click()
        await page.getByRole('dialog', { name: button }).waitFor()
        const hidden = await page.evaluate<number>(`document.querySelector('dialog').scrollTop`)
        assert.equal(hidden, 0, `${button} opens at its end`)
        await check()
        await page.choose('Close')
      }
    })
  }
})
