/** Tests of the items page in Chromium: editing a value in its cell changes no other character of the item's text. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inChromium } from '../../support/chromium.js'
import { assertAccessible, assertFits, assertUsable, screens } from '../../support/guarded-page.js'
import {
  createdBy,
  type ItemsPage,
  readBack,
  replacedBy,
  useItemsPage,
} from '../../support/items-page.js'
import { ownService } from '../../support/own-service.js'
import { until } from '../../support/until.js'

const { openItems, openWith } = useItemsPage()

function field(page: ItemsPage) {
  return page.getByRole('dialog').getByRole('textbox')
}

async function closes(page: ItemsPage): Promise<void> {
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

function countChanges(page: ItemsPage): () => number {
  let count = 0
  page.on('request', (request) => {
    if (!['GET', 'HEAD'].includes(request.method())) count += 1
  })
  return () => count
}

describe('editing a value in its cell', inChromium, () => {
  test('the field of a cell has the focus before the next key, even when a cell is first edited', async () => {
    const { page } = await openWith(['{"title":"Tea"}'])
    await page.cell('"Tea"').click()
    const found =
      "performance.getEntriesByType('resource').find(({ name }) => /dialogs-.*js$/.test(name))"
    // The script with the editor is loaded after the list.
    await until('the script of the editor', () => page.evaluate<boolean>(`${found} !== undefined`))
    // Waits only for microtasks, so that no timer or animation frame runs before the check.
    const isReady = await page.evaluate(`import(${found}.name).then(async () => {
      const cell = document.getElementById('active-cell')
      cell.dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))
      for (let i = 0; i < 99; i++) await undefined
      return document.activeElement.matches('dialog.cell input')
    })`)
    assert.equal(isReady, true)
  })

  test('a value edited with the keyboard alone changes only its own characters in the text of the item', async () => {
    const own = await ownService({ CONSOLE: 'on' })
    const data = '"p": 1.0,\t"big":12345678901234567890 , "s":"say \\u0022hi\\"", "t" :true'
    const id = await createdBy(own, `{${data}}`, '"shop"')
    const is = async (expected: string, project = '"shop"') =>
      assert.equal(await readBack(own, id), `{"id":"${id}","project_id":${project},${expected}}`)
    await is(data)
    const page = await openItems(own)
    await page.cell('1.0').waitFor()
    const changes = countChanges(page)
    const { keyboard } = page
    // ArrowDown activates the cell of the id, ArrowRight the cells of `project_id` and then `p`. Enter edits `p`.
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight', 'Enter']) await keyboard.press(key)
    assert.equal(await field(page).inputValue(), '1.0')
    await keyboard.type('9')
    await keyboard.press('Escape')
    await closes(page)
    await keyboard.press('Enter')
    await keyboard.press('Enter') // saves nothing, as the value is unchanged
    await closes(page)
    assert.equal(changes(), 0)
    await is(data)

    await keyboard.press('Enter')
    await field(page).waitFor()
    await keyboard.type(' -2.50e+1 ')
    await keyboard.press('Enter')
    await page.cell('-2.50e+1').waitFor()
    await closes(page)
    let now = data.replace('1.0', '-2.50e+1')
    await is(now)

    await keyboard.press('Enter')
    await field(page).waitFor()
    await keyboard.type('null')
    await keyboard.press('Tab')
    await closes(page)
    now = now.replace('-2.50e+1', 'null')
    await is(now)
    await keyboard.press('ArrowRight')
    await keyboard.press('Enter')
    assert.equal(await field(page).inputValue(), 'say "hi"')
    await keyboard.type('12 "{}\\')
    await keyboard.press('Shift+Tab')
    await closes(page)
    now = now.replace('say \\u0022hi\\"', '12 \\"{}\\\\')
    await is(now)
    await keyboard.press('Enter')
    assert.equal(await field(page).inputValue(), '12345678901234567890')
    await keyboard.type('"as text"')
    await keyboard.press('Enter')
    await closes(page)
    now = now.replace('12345678901234567890', '"as text"')
    await is(now)

    await keyboard.press('ArrowLeft')
    await keyboard.press('ArrowLeft')
    await keyboard.press('Enter')
    assert.equal(await field(page).inputValue(), 'shop')
    await keyboard.type('kiosk')
    await keyboard.press('Enter')
    await closes(page)
    await is(now, '"kiosk"')
    assert.equal(changes(), 5)
    await page.hasFocus()
  })

  test('a saved row is marked for a moment', async () => {
    const { page } = await openWith(['{"title":"Tea"}', '{"title":"Coffee"}'])
    await page.cell('"Tea"').dblclick()
    await page.evaluate(`void new MutationObserver(() => {
      globalThis.marked ??= document.querySelector('tr.changed')?.textContent
    }).observe(document.body, { subtree: true, childList: true, attributes: true })`)
    await field(page).fill('Milk')
    await page.keyboard.press('Enter')
    await until('the mark', () => page.evaluate<boolean>("globalThis.marked?.endsWith('Milk')"))
  })

  test('a double click edits a value in its cell, or the whole item if one field cannot show the value', async () => {
    const { page } = await openWith([
      '{"a":"one","lines":"1\\n2","of":[1],"turned":"\\u202e"}',
      '{"other":false}',
    ])
    await page.cell('"one"').waitFor()
    await page.cell('"one"').dblclick()
    await field(page).fill('two')
    await page.evaluate('void document.querySelector("dialog").click()') // a click beside the field
    await page.cell('"two"').waitFor()
    await closes(page)
    for (const text of ['"1\\n2"', '[1]']) {
      await page.cell(text).dblclick()
      await page.editor.waitFor()
      await page.choose('Close')
      await closes(page)
    }
    await page.cell('false').click()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Enter')
    await page.editor.waitFor()
  })

  test('a boolean is chosen by a click or an arrow key, below the field and above whole rows', async () => {
    const { own, ids, page } = await openWith(['{"b":true}', '{"b":false}', '{"b":null}'])
    await page.cell('true').dblclick()
    await assertUsable(page)
    const covered = await page.evaluate<number>(
      '(document.querySelector("dialog.cell").offsetHeight) / document.querySelector("tbody tr").offsetHeight',
    )
    assert.ok(Math.abs(covered - 3) < 0.1, `the editor is ${covered} rows high`)
    await page.getByRole('dialog').getByRole('button', { name: 'false' }).click()
    await closes(page)
    assert.match((await readBack(own, ids[0] ?? '')) ?? '', /"b":false/)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await field(page).press('ArrowDown')
    assert.equal(await field(page).inputValue(), 'true')
    await page.keyboard.press('Enter')
    await closes(page)
    assert.match((await readBack(own, ids[1] ?? '')) ?? '', /"b":true/)
    await page.cell('null').last().dblclick()
    await field(page).press('ArrowDown')
    assert.equal(await page.getByRole('dialog').getByRole('button').count(), 0)
  })

  for (const [screen, viewport] of Object.entries(screens)) {
    test(`an invalid value shows an error at its cell and stays in the field, on a ${screen} screen`, async () => {
      const own = await ownService({ CONSOLE: 'on', MAX_BODY_BYTES: '1000' })
      const id = await createdBy(own, '{"n":1,"s":"text"}', '"p"')
      const before = await readBack(own, id)
      const page = await openItems(own, { viewport })
      await page.counts('1 item')
      const changes = countChanges(page)
      for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight', 'Enter'])
        await page.keyboard.press(key)
      const describedBy = await field(page).getAttribute('aria-describedby')
      await page.locator(`#${describedBy}`).getByText('Enter saves, Esc cancels').waitFor()
      const isBelowName = await page.evaluate(`
        document.querySelector('dialog.cell').getBoundingClientRect().top >=
          document.getElementById('active-cell').getBoundingClientRect().bottom`)
      assert.equal(isBelowName, screen === 'phone')
      for (const [typed, problem] of [
        ['01', 'This is not JSON:'],
        ['1,"more":2', 'This is not JSON:'],
        ['text', 'A string needs quotes here.'],
        ['', 'This is not JSON:'],
        ['[1]', 'To enter an array or object, edit the whole item'],
      ] as const) {
        await field(page).fill(typed)
        await field(page).press('Enter')
        await page.getByRole('alert').getByText(problem).waitFor()
        assert.equal(await field(page).inputValue(), typed)
      }
      await assertUsable(page)
      await page.keyboard.press('Escape')
      await page.keyboard.press('ArrowLeft')
      await page.keyboard.press('Enter')
      if (screen === 'wide') {
        await field(page).fill('')
        await field(page).press('Enter')
        await page.sees('project_id must be a string of at least 1 character, or null')
      } else await page.editor.waitFor() // the card does not show `project_id`
      await page.keyboard.press('Escape')
      await closes(page)
      assert.equal(changes(), 0)

      for (const key of ['ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key)
      await field(page).fill('x'.repeat(1000))
      await field(page).press('Tab')
      await page
        .getByRole('alert')
        .getByText(/Not saved\..*413 · PAYLOAD_TOO_LARGE/)
        .waitFor()
      await assertFits(page)
      await assertAccessible(page)
      assert.equal(await readBack(own, id), before)
      await field(page).fill('short')
      await field(page).press('Enter')
      await closes(page)
      assert.equal(await readBack(own, id), before?.replace('text', 'short'))
    })
  }

  for (const [screen, viewport] of Object.entries(screens)) {
    test(`keys scroll the active cell and its error into view, on a ${screen} screen`, async () => {
      const items = Array.from({ length: 60 }, (_, n) => `{"n":${n},"of":[${n}]}`)
      const { page } = await openWith(items, { viewport })
      await page.counts('60 items')
      const isInside = (selector: string) =>
        page.evaluate<boolean>(`(() => {
          const { top, bottom } = document.querySelector('${selector}')?.getBoundingClientRect() ?? {}
          return top > document.querySelector('.grid').getBoundingClientRect().top && bottom <= innerHeight
        })()`)
      const scrollBy = (distance: number) =>
        page.evaluate(`document.querySelector('.grid').scrollBy(0, ${distance})`)
      await page.keyboard.press('End')
      for (const key of ['ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key)
      await field(page).fill('text')
      await field(page).press('Enter')
      await page.getByRole('alert').waitFor()
      assert.ok(await isInside('dialog.cell'))
      assert.ok(await isInside('dialog.cell .problem'))
      await page.keyboard.press('Escape')
      for (const by of [-200, -9999]) {
        await scrollBy(by)
        await page.keyboard.press('Enter')
        await field(page).waitFor()
        assert.equal(await field(page).inputValue(), '59')
        assert.ok(await isInside('dialog.cell'))
        await page.keyboard.press('Escape')
        await closes(page)
      }
      await scrollBy(-9999)
      await page.keyboard.press('End') // the last row is already active
      await until('the active row in view', () => isInside('tr.active'))
      await page.keyboard.press('ArrowRight')
      await scrollBy(-9999)
      await page.keyboard.press('v')
      await page.getByRole('dialog', { name: 'Value of of' }).waitFor()
      assert.ok(await isInside('.peek'))
      await page.keyboard.press('Escape')

      // Two new filter conditions move the list down. The error is still in the visible part.
      await page.choose('Filter')
      await page.choose('Add condition')
      await page.locator('[role=grid]').focus()
      for (const key of ['Home', 'ArrowLeft', 'Enter']) await page.keyboard.press(key)
      await field(page).fill('text')
      await field(page).press('Enter')
      await page.getByRole('alert').waitFor()
      assert.ok(await isInside('dialog.cell .problem'))
    })
  }

  test('an item without a value in any column is edited as a whole', async () => {
    const { page } = await openWith(['{"a":1}', '{"a":2}', '{"b":{"c":3}}'])
    await page.choose('Columns')
    await page.getByRole('checkbox', { name: 'b', exact: true }).uncheck()
    await page.choose('Close')
    const rest = page.cell('project_id: null b: {"c":3}')
    await rest.dblclick()
    await page.editor.waitFor()
    await page.choose('Close')
    await closes(page)
    await page.keyboard.press('v') // the cell has no single value to show
    await page.keyboard.press('Enter')
    await page.editor.waitFor()
    assert.equal(await page.getByRole('dialog').count(), 1)
  })

  test('a value whose item was changed elsewhere opens the editor, which asks which version to keep', async () => {
    const { own, ids, page } = await openWith(['{"who":"me","n":1.0}'])
    const [id = ''] = ids
    await page.cell('"me"').dblclick()
    await field(page).fill('mine')
    await replacedBy(own, id, '{"who":"them","n":2.0}')
    await page.keyboard.press('Enter')
    await page.sees('This item was changed elsewhere. It is now:')
    await page.sees('"who": "them"')
    assert.match((await page.editor.textContent()) ?? '', /"who": "mine",\s*"n": 1\.0/)
    await page.choose('Overwrite with mine')
    await closes(page)
    assert.match((await readBack(own, id)) ?? '', /"who":"mine","n":1\.0/)
  })
})
