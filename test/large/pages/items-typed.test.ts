/** Tests of the items page in Chromium: what a person types is kept and saved, whatever else happens meanwhile. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inChromium } from '../../support/chromium.js'
import { assertFits, assertUsable, screens } from '../../support/guarded-page.js'
import { type ItemsPage, useItemsPage } from '../../support/items-page.js'
import { until } from '../../support/process.js'

const { openWith } = useItemsPage()

/** Presses a key that Playwright cannot press: one of another keyboard layout, or one for an input method. */
const pressIn = (page: ItemsPage, selector: string, key: object) =>
  page.evaluate(`document.querySelector('${selector}').dispatchEvent(new KeyboardEvent(
    'keydown', { bubbles: true, cancelable: true, composed: true, ...${JSON.stringify(key)} }))`)

async function type(page: ItemsPage, n: string, typed: string): Promise<void> {
  await page.open(`"${n}"`)
  await page.editor.fill(`{"n":"${typed}"}`)
}

const holds = (page: ItemsPage, typed: string) => page.holds(`{"n":"${typed}"}`)

const selected = (page: ItemsPage) => page.locator('tr[aria-selected="true"]').count()

async function drag(page: ItemsPage, selector: string, by: number): Promise<void> {
  const { left, right, top } = await page.boxOf(page.locator(selector))
  await page.mouse.move(left + 30, top + 10)
  await page.mouse.down()
  await page.mouse.move(right - 5, top + 10)
  await page.mouse.move(right + by, top + 10)
  await page.mouse.up()
}

describe('what a person types into the panel', inChromium, () => {
  test('who turns a phone or resizes a window keeps the typed text and place, and saves it', async () => {
    const viewport = { width: 390, height: 844 }
    const { own, id, page } = await openWith(['{"n":"one"}'], { viewport })
    let typed = 'typed'
    await type(page, 'one', typed)
    await page.press('ArrowLeft', 'ArrowLeft')
    for (const width of [844, 390, 1280, 600]) {
      await page.setViewportSize({ width, height: 600 })
      await page.locator('main').waitFor({ state: width < 640 ? 'hidden' : 'visible' })
      typed += ` at ${width}`
      await page.keyboard.type(` at ${width}`)
      await holds(page, typed)
    }
    await page.save()
    assert.ok((await own.read(id)).includes(`"n":"${typed}"`))
  })

  test('who deletes the selected items keeps the text typed for one of them', async () => {
    const { own, page } = await openWith(['{"n":"one"}', '{"n":"two"}', '{"n":"three"}'])
    await type(page, 'two', 'typed')
    for (const row of [0, 1]) await page.locator('tbody .box').nth(row).click()
    await page.choose('Delete the selected items', 'Delete')
    await page.counts('1 item')
    await page.sees('This item was deleted')
    await holds(page, 'typed')
    await page.choose('Save as a new item')
    await page.counts('2 items')
    assert.match(await own.list(), /"n":"typed"/)
  })

  test('who closes or leaves the panel or a cell while it saves gets the text back if the save fails', async () => {
    const { own, ids, page } = await openWith(['{"n":"one"}', '{"n":"two"}'])
    await page.refuse('PUT', 500)
    let release = await page.hold('PUT')
    await page.cell('"two"').dblclick()
    await page.enter('typed')
    await page.press('Escape')
    assert.equal(await page.getByRole('dialog').count(), 1)
    await release()
    await page.warns(/no luck/)
    assert.equal(await page.field.inputValue(), 'typed')
    await page.press('Escape')
    await page.closes()

    await type(page, 'one', 'typed')
    release = await page.hold('PUT')
    await page.choose('Save', 'Close')
    await release()
    await page.warns(/no luck/)
    await holds(page, 'typed')
    assert.equal(await page.getByRole('dialog').count(), 1)

    await page.respond('PUT', 'undefined')
    release = await page.hold('PUT')
    await page.choose('Save')
    await page.cell('"two"').click()
    await page.press('e')
    await release()
    await page.hasInEditor('"two"')
    assert.match(await own.read(ids[0]), /"n":"typed"/)
  })

  test('who presses Alt+↓ on the last row stays there, and is asked nothing', async () => {
    const { own, id, page } = await openWith(['{"n":"one"}'])
    await type(page, 'one', 'typed')
    await page.press('Alt+ArrowDown', 'Alt+ArrowUp')
    await page.save()
    assert.match(await own.read(id), /"n":"typed"/)
  })

  test('who has typed nothing sees each new version of the item, and no question', async () => {
    const { own, id, page } = await openWith(['{"n":"one"}', '{"n":"other"}'])
    await page.open('"one"')
    for (const n of ['two', 'three']) {
      await own.replace(id, `{"n":"${n}"}`)
      await page.hasInEditor(`"${n}"`)
    }
    assert.equal(await page.getByRole('alert').count(), 0)
    await own.delete(id)
    await page.sees('This item was deleted')
  })

  test('who types one space, or changes one value, changes no other white space of a saved item', async () => {
    const data = `{"n":"one", "of":[${'{"a":1,"b":[2]},'.repeat(99)}3],\t"last":"x" }`
    const { own, id, page } = await openWith([data])
    const before = await own.read(id)
    await page.open('"one"')
    await page.editor.press('Control+Home')
    await page.press('ArrowRight')
    await page.keyboard.type(' ')
    await page.editor.press('Control+End')
    await page.press('ArrowUp', 'End', 'ArrowLeft')
    await page.keyboard.type('yz')
    await page.save()
    const saved = await own.read(id)
    assert.equal(saved.replace(/,\s*"n"/, ',"n"'), before.replace('"x"', '"xyz"'))
    assert.ok(saved.length <= before.length + 6, saved.slice(0, 100))
  })

  test('who uses an input method, Caps Lock or another layout reaches every shortcut, and none by accident', async () => {
    const { own, id, page } = await openWith(['{"n":"one"}'])
    await page.counts('1 item')
    await page.press('A')
    for (const key of [{ key: 'N' }, { key: 'т', code: 'KeyN' }]) {
      await pressIn(page, '[role=grid]', key)
      await page.asks('New item')
      await page.choose('Close')
      await page.closes()
    }
    await pressIn(page, '[role=grid]', { key: 'ф', code: 'KeyA', ctrlKey: true })
    await page.sees('1 item selected')

    await type(page, 'one', 'typed')
    await pressIn(page, '.editor', { key: 'Escape', isComposing: true })
    await pressIn(page, '.editor', { key: 'Enter', keyCode: 229, ctrlKey: true })
    await pressIn(page, '.editor', { key: 'S', code: 'KeyS', metaKey: true })
    await page.closes()
    assert.match(await own.read(id), /"n":"typed"/)

    await page.cell('"typed"').dblclick()
    await page.field.fill('in a cell')
    await pressIn(page, 'dialog.cell input', { key: 'Escape', isComposing: true })
    await pressIn(page, 'dialog.cell input', { key: 'Enter', keyCode: 229 })
    await page.field.press('Control+End')
    assert.equal(await page.field.inputValue(), 'in a cell')
    assert.match(await own.read(id), /"n":"typed"/)
  })
})

describe('what a person types into a cell', inChromium, () => {
  test('a value edited with the keyboard alone changes only its own characters in the text of the item', async () => {
    const data = '"p": 1.0,\t"big":12345678901234567890 , "s":"say \\u0022hi\\"", "t" :true}'
    const { own, id, page } = await openWith([[`{${data}`, '"shop"']])
    let text = `{"id":"${id}","project_id":"shop",${data}`
    await page.cell('1.0').waitFor()
    await page.press('ArrowDown', 'ArrowRight', 'ArrowRight') // moves to `id`, `project_id` and `p`
    await page.press('Enter')
    await page.field.waitFor()
    await page.press('9', 'Escape')
    await page.closes()
    await page.press('Enter', 'Enter') // saves nothing, as the value is unchanged
    await page.closes()
    assert.equal(page.changes(), 0)
    assert.equal(await own.read(id), text)

    const edits = [
      { shown: '1.0', typed: ' -2.50e+1 ', to: '-2.50e+1' },
      { shown: '-2.50e+1', typed: 'null', end: 'Tab' },
      {
        keys: ['ArrowRight'],
        shown: 'say "hi"',
        typed: '12 "{}\\',
        end: 'Shift+Tab',
        from: 'say \\u0022hi\\"',
        to: '12 \\"{}\\\\',
      },
      { shown: '12345678901234567890', typed: '"as text"' },
      { keys: ['ArrowRight', 'ArrowRight'], shown: 'true', typed: 'false' },
      { keys: Array(4).fill('ArrowLeft'), shown: 'shop', typed: 'kiosk' },
    ]
    for (const { keys = [], shown, typed, end = 'Enter', ...rest } of edits) {
      const { from = shown, to = typed } = rest
      await page.press(...keys, 'Enter')
      assert.equal(await page.field.inputValue(), shown)
      await page.keyboard.type(typed)
      await page.press(end)
      await page.closes()
      text = text.replace(from, to)
      assert.equal(await own.read(id), text)
    }
    assert.equal(page.changes(), 6)
    await page.hasFocus()
  })

  test('a double click edits a value in its cell, or the whole item if one field cannot show the value', async () => {
    const { page } = await openWith([
      '{"a":"one","lines":"1\\n2","of":[1],"turned":"\\u202e"}',
      '{"other":null}',
    ])
    await page.cell('"one"').click()
    // Waits only for microtasks, so that the field has the focus before a timer, an animation frame or the next key.
    const isReady = await page.evaluate(`(async () => {
      const cell = document.getElementById('active-cell')
      cell.dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))
      for (let i = 0; i < 99; i++) await undefined
      return document.activeElement.matches('dialog.cell input')
    })()`)
    assert.equal(isReady, true)
    await page.field.fill('two')
    await page.mouse.move(5, 5) // beside the field
    await page.mouse.down()
    await page.mouse.up()
    await page.cell('"two"').waitFor()
    await page.closes()
    for (const text of ['"1\\n2"', '[1]', '"\u202e"']) {
      await page.cell(text).dblclick()
      await page.editor.waitFor()
      await page.choose('Close')
      await page.closes()
    }
    await page.cell('null').last().dblclick()
    await page.field.waitFor()
    await page.press('Escape', 'ArrowLeft', 'Enter')
    await page.editor.waitFor()
  })

  for (const [screen, viewport] of Object.entries(screens)) {
    test(`an invalid value shows an error at its cell and stays in the field, on a ${screen} screen`, async () => {
      const options = { viewport, env: { MAX_BODY_BYTES: '1000' } }
      const { own, id, page } = await openWith([['{"n":1,"s":"text"}', '"p"']], options)
      const before = await own.read(id)
      await page.counts('1 item')
      await page.press('ArrowDown', 'ArrowRight', 'ArrowRight', 'Enter')
      await page.sees('Enter saves, Esc cancels')
      const isBelowName = await page.evaluate(`
        document.querySelector('dialog.cell').getBoundingClientRect().top >=
          document.getElementById('active-cell').getBoundingClientRect().bottom`)
      assert.equal(isBelowName, screen === 'phone')
      for (const [typed, problem] of [
        ['1,"more":2', 'This is not JSON:'],
        ['text', 'A string needs quotes here.'],
        ['[1]', 'To enter an array or object, edit the whole item'],
      ] as const) {
        await page.enter(typed)
        await page.warns(problem)
        assert.equal(await page.field.inputValue(), typed)
      }
      await assertUsable(page)
      await page.press('Escape', 'ArrowLeft', 'Enter')
      if (screen === 'wide') {
        await page.enter('')
        await page.sees('project_id must be a string of at least 1 character, or null')
      } else await page.editor.waitFor() // the card does not show `project_id`
      await page.press('Escape')
      await page.closes()
      assert.equal(page.changes(), 0)

      await page.press('ArrowRight', 'ArrowRight', 'Enter')
      await page.field.fill('x'.repeat(1000))
      await page.field.press('Tab')
      await page.warns(/Not saved\..*413 · PAYLOAD_TOO_LARGE/)
      await assertFits(page)
      assert.equal(await own.read(id), before)
      await page.enter('short')
      await page.closes()
      assert.equal(await own.read(id), before.replace('text', 'short'))
    })
  }

  test('keys scroll the active cell and its error into view', async () => {
    const items = Array.from({ length: 60 }, (_, n) => `{"n":${n},"of":[${n}]}`)
    const { page } = await openWith(items)
    await page.counts('60 items')
    const isInside = (selector: string) =>
      page.evaluate<boolean>(`(() => {
        const { top, bottom } = document.querySelector('${selector}')?.getBoundingClientRect() ?? {}
        return top > document.querySelector('.grid').getBoundingClientRect().top && bottom <= innerHeight
      })()`)
    const scrollBy = (distance: number) =>
      page.evaluate(`document.querySelector('.grid').scrollBy(0, ${distance})`)
    await page.press('End', 'ArrowRight', 'ArrowRight', 'Enter')
    await page.enter('text')
    await page.getByRole('alert').waitFor()
    assert.ok(await isInside('dialog.cell'))
    assert.ok(await isInside('dialog.cell .problem'))
    await page.press('Escape')
    for (const by of [-200, -9999]) {
      await scrollBy(by)
      await page.press('Enter')
      await page.field.waitFor()
      assert.equal(await page.field.inputValue(), '59')
      assert.ok(await isInside('dialog.cell'))
      await page.press('Escape')
      await page.closes()
    }
    await scrollBy(-9999)
    await page.press('End') // the last row is already active
    await until('the active row in view', () => isInside('tr.active'))
    await page.press('ArrowRight')
    await scrollBy(-9999)
    await page.press('v')
    await page.asks('Value of of')
    assert.ok(await isInside('.peek'))
    await page.press('Escape')
  })

  test('who saves a cell that was changed elsewhere loses neither its value nor the text in the panel', async () => {
    const { own, ids, page } = await openWith(['{"n":"one"}', '{"n":"two"}'])
    await type(page, 'two', 'typed')
    await page.cell('"one"').dblclick()
    await page.field.fill('in the cell')
    await own.replace(ids[0], '{"n":"other","more":2.0}')
    await page.field.press('Enter')
    await page.sees('This item was changed elsewhere')
    assert.equal(await page.field.inputValue(), 'in the cell')
    await assertUsable(page)
    await page.choose('Overwrite with mine')
    await page.cell('"in the cell"').waitFor()
    assert.match(await own.read(ids[0]), /"n":"in the cell","more":2\.0/)
    await page.cell('"in the cell"').dblclick()
    await page.field.fill('again')
    await own.replace(ids[0], '{"n":"in the cell","more":3.0}')
    await page.field.press('Enter')
    await page.cell('"again"').waitFor()
    assert.match(await own.read(ids[0]), /"n":"again","more":3\.0/)
    await holds(page, 'typed')
    await page.save()
  })

  test('who drags a selection out of a field neither saves the cell nor closes the dialog', async () => {
    const members = Array.from({ length: 14 }, (_, at) => `"m${at}":1`)
    const { own, id, page } = await openWith([`{"n":"one",${members}}`])
    await page.cell('"one"').dblclick()
    await page.field.fill('half-typed')
    await drag(page, 'dialog.cell input', 40)
    await page.field.press('End')
    await page.field.press('Escape')
    await page.closes()
    assert.match(await own.read(id), /"n":"one"/)
    await page.choose('Columns')
    await drag(page, 'dialog [type=search]', -400)
    await page.locator('dialog [type=search]').fill('m1')
  })

  test('who edits a cell whose row moves keeps the field at its cell', async () => {
    const { own, ids, page } = await openWith(['{"n":"one"}', '{"n":"two"}', '{"n":"three"}'])
    await page.cell('"three"').dblclick()
    await own.delete(ids[0])
    await page.counts('2 items')
    const tops = () =>
      page.all<number>('#active-cell, dialog.cell', 'Math.round(each.getBoundingClientRect().top)')
    await until('the field at its cell', async () => new Set(await tops()).size === 1)
  })
})

describe('what a person presses and chooses', inChromium, () => {
  test('who closes a hover popover or the menu with Escape keeps the selection, and no popover closes the menu', async () => {
    const { page } = await openWith([`{"text":"${'long '.repeat(99)}"}`])
    await page.counts('1 item')
    await page.press('ArrowDown', 'Space')
    const { left: x, top: y } = await page.boxOf(page.getByText(/^long long/))
    await page.mouse.move(x + 20, y + 10)
    await page.asks('Value of text')
    await page.mouse.move(x + 40, y + 50) // the pointer can reach the popover
    await page.hasFocus()
    await page.press('Escape')
    await page.closes()
    assert.equal(await selected(page), 1)
    await page.mouse.move(x + 20, y + 10)
    await page.asks('Value of text')
    await page.mouse.move(x + 20, 5) // another element
    await page.closes()
    await page.choose('More')
    await page.press('Escape')
    await page.locator('#more').waitFor({ state: 'hidden' })
    assert.equal(await selected(page), 1)
    await page.press('Escape')
    await page.locator('tr[aria-selected="true"]').waitFor({ state: 'detached' })

    await page.evaluate(`{
      const { setTimeout } = globalThis
      globalThis.setTimeout = (act, time, ...rest) =>
        setTimeout(() => { act(...rest); globalThis.hasRested ||= time === 700 }, time)
    }`)
    await page.choose('More')
    await page.mouse.move(x + 30, y + 10)
    await until('the rest', () => page.evaluate<boolean>('globalThis.hasRested === true'))
    await page.locator('#more').getByRole('button', { name: 'Import' }).click()
  })

  test('who double-clicks Import imports all items, and can choose a corrected file of the same name', async () => {
    const { own, page } = await openWith([])
    await page.chooseMore('Import')
    await page.openFile('a.jsonl', '{"a":01}')
    await page.warns('a.jsonl: line 1')
    const chosen = () => page.all<number>('[type=file]', 'each.files.length')
    assert.deepEqual(await chosen(), [1])
    await page.getByLabel('File').click()
    assert.deepEqual(await chosen(), [0]) // otherwise, the same name would be no change
    await page.openFile('a.jsonl', '{"a":1}\n{"a":2}\n{"a":3}')
    await page.sees('3 items to import.')
    const release = await page.hold('POST')
    await page.button('Import').last().dblclick()
    await release()
    await page.sees('3 of 3 items imported.')
    assert.equal((await own.list()).split('"a":').length, 4)
  })

  test('who saves an item into another project no longer sees it in the chosen project', async () => {
    const { page } = await openWith([
      ['{"n":"one"}', '"p"'],
      ['{"n":"two"}', '"p"'],
    ])
    await page.project.selectOption('p')
    await page.counts('2 items')
    await page.open('"one"')
    await page.hold('GET') // the page must not need another list
    await page.editor.fill('{"project_id":"q","n":"one"}')
    await page.save()
    await page.counts('1 item')
  })

  test('who has rubbish in the storage of the browser sees the list', async () => {
    const rubbish = [
      ...['{', 'null', '7', '[]', '{"order":null}', '{"names":["id","a","a"],"order":{}}'],
      '{"widths":[["a",1e9]]}',
    ]
    const { page } = await openWith(rubbish.map((_, at) => ['{"a":"one"}', `"${at}"`]))
    await page.counts('7 items')
    for (const [at, text] of rubbish.entries()) {
      for (const project of ['', `"${at}"`])
        await page.evaluate(`localStorage.setItem('item-store-table:${project}', '${text}')`)
    }
    await page.reload()
    await page.counts('7 items')
    for (const at of rubbish.keys()) {
      await page.project.selectOption(`${at}`)
      await page.counts('1 item')
      await page.cell('"one"').click()
      const { width } = await page.boxOf(page.cell('"one"'))
      assert.ok(width < 2000, `${width}`)
    }
  })

  test('who lets the browser translate the page sees only current values', async () => {
    const { own, id, page } = await openWith(['{"n":"one","of":[1]}'])
    await page.open('"one"')
    await page.hasInEditor('"one"')
    // Replaces text as a translating browser does.
    await page.evaluate(`{
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      const nodes = []
      while (texts.nextNode()) nodes.push(texts.currentNode)
      for (const node of nodes) {
        if (node.parentElement.closest('[translate=no]')) continue
        const font = document.createElement('font')
        node.replaceWith(font)
        font.textContent = 'translated ' + node.data
      }
    }`)
    await own.replace(id, '{"n":"two","of":[2]}')
    await own.create('{"n":"three"}')
    await page.cell('"two"').waitFor()
    await page.counts('2 items')
    assert.equal(await page.getByText(/translated (?:one|\[1\]|1 item)/).count(), 0)
    await page.hasInEditor('"two"')
  })
})
