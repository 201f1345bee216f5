/** Tests of the items page in Chromium: editing a value in its cell changes no other character of the item's text. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inChromium } from '../../support/chromium.js'
import { assertFits, assertUsable, screens } from '../../support/guarded-page.js'
import { type ItemsPage, useItemsPage } from '../../support/items-page.js'
import { until } from '../../support/process.js'

const { openWith } = useItemsPage()

function countChanges(page: ItemsPage): () => number {
  let count = 0
  page.on('request', (request) => {
    if (!['GET', 'HEAD'].includes(request.method())) count += 1
  })
  return () => count
}

describe('editing a value in its cell', inChromium, () => {
  test('the field of a cell has the focus before the next key', async () => {
    const { page } = await openWith(['{"title":"Tea"}'])
    await page.cell('"Tea"').click()
    // Waits only for microtasks, so that no timer or animation frame runs before the check.
    const isReady = await page.evaluate(`(async () => {
      const cell = document.getElementById('active-cell')
      cell.dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))
      for (let i = 0; i < 99; i++) await undefined
      return document.activeElement.matches('dialog.cell input')
    })()`)
    assert.equal(isReady, true)
  })

  test('a value edited with the keyboard alone changes only its own characters in the text of the item', async () => {
    const data = '"p": 1.0,\t"big":12345678901234567890 , "s":"say \\u0022hi\\"", "t" :true}'
    const { own, id, page } = await openWith([[`{${data}`, '"shop"']])
    let text = `{"id":"${id}","project_id":"shop",${data}`
    await page.cell('1.0').waitFor()
    const changes = countChanges(page)
    await page.press('ArrowDown', 'ArrowRight', 'ArrowRight') // moves to `id`, `project_id` and `p`
    await page.press('Enter')
    await page.field.waitFor()
    await page.press('9', 'Escape')
    await page.closes()
    await page.press('Enter', 'Enter') // saves nothing, as the value is unchanged
    await page.closes()
    assert.equal(changes(), 0)
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
      { keys: ['ArrowLeft', 'ArrowLeft'], shown: 'shop', typed: 'kiosk' },
    ]
    for (const { keys = [], shown, typed, end = 'Enter', from = shown, to = typed } of edits) {
      await page.press(...keys, 'Enter')
      assert.equal(await page.field.inputValue(), shown)
      await page.keyboard.type(typed)
      await page.press(end)
      await page.closes()
      text = text.replace(from, to)
      assert.equal(await own.read(id), text)
    }
    assert.equal(changes(), 5)
    await page.hasFocus()
  })

  test('a double click edits a value in its cell, or the whole item if one field cannot show the value', async () => {
    const { page } = await openWith([
      '{"a":"one","lines":"1\\n2","of":[1],"turned":"\\u202e"}',
      '{"other":false}',
    ])
    await page.cell('"one"').dblclick()
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
    await page.cell('false').click()
    await page.press('ArrowLeft', 'Enter')
    await page.editor.waitFor()
  })

  test('a boolean is chosen by an arrow key', async () => {
    const { own, ids, page } = await openWith(['{"b":true}', '{"b":false}', '{"b":null}'])
    await page.cell('true').dblclick()
    await assertUsable(page)
    await page.enter('false')
    await page.closes()
    assert.match(await own.read(ids[0]), /"b":false/)
    await page.press('ArrowDown', 'Enter')
    await page.field.press('ArrowDown')
    assert.equal(await page.field.inputValue(), 'true')
    await page.press('Enter')
    await page.closes()
    assert.match(await own.read(ids[1]), /"b":true/)
    await page.cell('null').last().dblclick()
    await page.field.press('ArrowDown')
    assert.equal(await page.field.inputValue(), 'null')
  })

  for (const [screen, viewport] of Object.entries(screens)) {
    test(`an invalid value shows an error at its cell and stays in the field, on a ${screen} screen`, async () => {
      const options = { viewport, env: { MAX_BODY_BYTES: '1000' } }
      const { own, id, page } = await openWith([['{"n":1,"s":"text"}', '"p"']], options)
      const before = await own.read(id)
      await page.counts('1 item')
      const changes = countChanges(page)
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
      assert.equal(changes(), 0)

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
})
