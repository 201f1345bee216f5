/** Tests of the items page in Chromium when something goes wrong: typed text is never lost. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { inSeconds } from '../../conformance/tokens.js'
import { inChromium } from '../../support/chromium.js'
import { assertAccessible, assertFits, assertUsable, screens } from '../../support/guarded-page.js'
import { type ItemsPage, itemsService, useItemsPage } from '../../support/items-page.js'
import { until } from '../../support/process.js'

const { openItems } = useItemsPage()
const service = await itemsService({ MAX_BODY_BYTES: '1000' })

const typed = '{"typed": 12345678901234567890}'

async function typeNew(page: ItemsPage): Promise<void> {
  await page.choose('New item')
  await page.editor.fill(typed)
}

/** Reloads the page, checks that the browser asks for confirmation, and cancels the reload. */
async function assertAsksBrowser(page: ItemsPage): Promise<void> {
  const asked: string[] = []
  const dismissed: Promise<void>[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.type())
    dismissed.push(dialog.dismiss())
  })
  await page.evaluate('setTimeout(() => location.reload()); 0')
  await until('the question of the browser', () => asked.length > 0)
  assert.deepEqual(asked, ['beforeunload'])
  await Promise.all(dismissed) // the page must not close before its dialog
}

async function countItems(): Promise<number> {
  return (await service.list()).split('"id":').length - 1
}

describe('the items page when something goes wrong', inChromium, () => {
  test('errors are marked while typing, invalid text is not sent, and the page asks before it is left', async () => {
    const page = await openItems(service)
    await page.choose('New item')
    await page.editor.fill('{"a": 1, "b": 01}')
    await page.sees('line 1, column 16', 'expected a comma or "}"')
    await page.locator('.cm-lintRange-error').getByText('1', { exact: true }).waitFor()
    await page.choose('Save')
    await page.press('Delete') // the cursor is at the error
    await page.holds('{"a": 1, "b": 0}')
    await page.editor.fill(`{${'"a":1,'.repeat(8)}"project_id":5}`)
    const findings = page.locator('.findings p')
    await until('five listed problems', async () => (await findings.count()) === 5)
    assert.match((await findings.first().textContent()) ?? '', /^Error in line 1, .* or null$/)
    assert.match((await findings.last().textContent()) ?? '', /^Warning in line 1, /)
    assert.equal(page.changes(), 0)
    await page.editor.fill('{"a":1}')
    await page.choose('Format')
    await page.editor.press('Control+z')
    await page.holds('{"a":1}')
    await page.editor.fill('{"of": [')
    await assertAsksBrowser(page)
    await page.holds('{"of": [')
  })

  test('an item that is too large, rejected, or sent with an expired token stays in the editor', async () => {
    const page = await openItems(service)
    const long = `{"long": "${'x'.repeat(1000)}"}`
    await page.choose('New item')
    await page.editor.fill(long)
    await page.choose('Save')
    await page.warns(/Not saved\..*413 · PAYLOAD_TOO_LARGE/)
    await page.holds(long)
    await page.hasFocusOn('Save')

    await page.editor.fill(typed)
    const expired = service.mint({ sub: 'a', exp: inSeconds(-10) })
    await page.evaluate(`void (location.hash = 'token=${expired}')`)
    const dialog = await page.asks('Token')
    await dialog.getByText('TOKEN_EXPIRED').waitFor()
    await page.keyboard.type('meant for the editor')
    assert.equal(await dialog.getByLabel('Token').inputValue(), expired)
    await page.choose('Close', 'Save')
    await page.useToken(service.validToken())
    await page.save()
    await page.cell('12345678901234567890').waitFor()
  })

  test('a missing, malformed or wrong token shows its dialog with the reason, and an empty list says what to do', async () => {
    const own = await itemsService()
    const page = await openItems(own, { token: '' })
    const list = page.getByRole('region')
    await page.choose('Close')
    await page.sees('The service shows items only with a token.')
    await assertUsable(page)
    await list.getByRole('button', { name: 'Enter a token' }).press('Enter')
    await page.choose('Use this token')
    await page.sees('There is no token')
    await page.useToken('not a token')
    await page.sees('This is not a token')
    const dialog = await page.asks('Token')
    const field = dialog.getByLabel('Token')
    await field.fill('wrong')
    await field.press('Enter')
    await dialog.getByText('The token is invalid: it is not a JSON Web Token').waitFor()
    assert.equal(await page.getByText(/INVALID_TOKEN|token is needed/).count(), 1)
    await field.press('Escape')
    await page.sees('another token is needed')
    await page.choose('Enter a token')
    // The user may have copied "Bearer" with the token. Closing the dialog applies the token.
    await field.fill(`Bearer ${own.validToken()} `)
    await field.press('Escape')
    await page.closes()

    await page.sees('No items yet')
    assert.equal(await page.evaluate('localStorage.length'), 0)
    assert.ok(!page.url().includes('#'))
    await assertUsable(page)
    assert.doesNotMatch((await list.locator('pre').textContent()) ?? '', /eyJ/)
    const copied = await page.watchClipboard()
    await page.button('Copy command with token').press('Enter')
    await page.button('Copied').waitFor()
    const input = (await copied()).replace('curl', 'curl -s -m 10')
    await promisify(execFile)('sh', ['-c', input])
    await page.cell('"First item"').waitFor()

    await page.search.fill('second')
    await page.sees('No item contains “second”.')
    await page.button('Show all items').press('Enter')
    await page.cell('"First item"').waitFor()
    await page.hasFocus()
    assert.equal(await page.search.inputValue(), '')
  })

  test('the editor says that an item was changed elsewhere before it overwrites anything', async () => {
    const id = await service.create('{"who":"me"}')
    const page = await openItems(service, { viewport: screens.phone })
    const edit = async (from: string, to: string) => {
      await page.open(`"${from}"`)
      await page.editor.fill(`{"who":"${to}"${'\n'.repeat(40)}}`)
    }
    await edit('me', 'mine')
    const release = await page.hold('GET', '/items') // the list could show the conflict before the save
    await service.replace(id, '{"who":"them"}')
    await page.choose('Save')
    await page.sees('This item was changed elsewhere. It is now:', '"who": "them"')
    await assertUsable(page)
    const { left, top } = await page.boxOf(page.button('Overwrite with mine'))
    const atButton = `document.elementFromPoint(${left + 5}, ${top + 5})?.textContent`
    assert.equal(await page.evaluate(atButton), 'Overwrite with mine')
    const changes = page.changes()
    await page.press('Control+s') // must not overwrite either
    assert.equal(page.changes(), changes)
    assert.match(await service.read(id), /"them"/)
    await page.choose('Overwrite with mine')
    await page.closes()
    assert.match(await service.read(id), /"mine"/)

    await release()
    await edit('mine', 'mine again')
    await service.replace(id, '{"who":"them again"}')
    await page.sees('This item was changed elsewhere. It is now:')
    await page.choose('Edit the other version')
    await page.hasFocus('.editor')
    await page.hasInEditor('"them again"')
    await page.editor.press('Control+z')
    await page.holds('{"who":"mine again"}')
  })

  test('a create whose response is lost makes only one item when it is repeated', async () => {
    const before = await countItems()
    const page = await openItems(service)
    const lose = (method: string, count: number, instead = `Promise.reject(TypeError('lost'))`) =>
      page.evaluate(`{
        let left = ${count}
        const { fetch } = globalThis
        globalThis.fetch = async (url, init) => {
          const answer = await fetch(url, init)
          return init.method !== '${method}' || left-- <= 0 ? answer : ${instead}
        }
      }`)
    await typeNew(page)
    await lose('POST', 3) // the first request and its two automatic retries
    await page.choose('Save')
    await page.sees('(CONNECTION_LOST). It is not known whether this was saved.')
    assert.equal(await countItems(), before + 1)
    await page.save()
    assert.equal(await countItems(), before + 1)

    await typeNew(page)
    await lose('POST', 3)
    await page.choose('Save')
    await page.sees('It is not known whether this was saved.')
    await page.editor.fill('{"typed":"since"}')
    await page.choose('Save')
    await page.sees('Your earlier attempt to save succeeded. The item is now:')
    await page.holds('{"typed":"since"}')
    await assertAccessible(page)
    await page.choose('Overwrite with mine')
    await page.closes()
    await page.cell('"since"').waitFor()
    assert.equal(await countItems(), before + 2)

    await page.open('"since"')
    await page.editor.fill('{ "typed":"to the end" }')
    const release = await page.hold('GET', '/items') // the list shows that the text was saved
    await lose('PUT', 1, `new Response('<p>Gateway timeout</p>', { status: 504 })`) // from a proxy
    await page.choose('Save')
    await page.sees('It is not known whether this was saved.')
    await page.editor.fill('{ "typed":"to the very end" }')
    await release()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.save()
  })

  test('while the service cannot be reached, list and typed text stay, and all can be tried again', async () => {
    await service.create('{"kept":"in the page"}')
    let isCut = true
    const page = await openItems(service, {
      token: service.mint({ sub: 'maria', exp: inSeconds(7_100) }),
      expected: /net::ERR_FAILED/,
      isCut: ({ pathname }) => isCut && pathname.startsWith('/api/'),
    })
    await page.warns('The list cannot be shown')
    await page.sees('No list yet')
    await page.setViewportSize(screens.phone)
    await assertFits(page)
    const isCutOff = 'each.scrollWidth > each.clientWidth'
    assert.deepEqual(await page.all('.status button', isCutOff), [false])
    await page.setViewportSize(screens.wide)
    await page.chooseMore('Export')
    await page.warns('Not exported.')
    assert.equal(await page.getByRole('alert').count(), 1) // the cause is shown only once
    await page.button('Close').press('Enter')
    await page.hasFocus()
    await page.button('Try again').focus()
    isCut = false
    await page.press('Enter')
    await page.cell('"in the page"').waitFor()
    await page.hasFocus()
    for (const text of ['Item Store', 'Live']) await page.getByText(text, { exact: true }).waitFor()
    await page.button('Token of maria, expires in 1 hour').waitFor()

    const top = await page.topOfRows()
    await typeNew(page)
    isCut = true
    await page.choose('Save')
    await page.sees('The service cannot be reached', 'It is not known whether this was saved')
    await page.holds(typed)
    await page.choose('Close', 'Discard')
    await service.create('{}') // ends the page's wait for a change, so the page requests the list
    await page.sees(/^This is the list as of .*: The service cannot be reached/)
    await page.getByText('Not connected', { exact: true }).waitFor()
    await assertUsable(page)
    assert.equal(await page.topOfRows(), top, 'the rows moved when the error appeared')
    await page.cell('"in the page"').dblclick()
    await page.enter('and typed')
    await page.warns(/^It is not known whether this was saved/)
    // The error's cause is shown once, for the list, and not repeated for the cell.
    const causes = page.getByText('The service cannot be reached')
    await until('one message with the cause', async () => (await causes.count()) === 1)
    isCut = false
    await page.enter('and typed')
    await page.closes()
    await page.cell('"and typed"').waitFor()
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })

  test('a running import asks before it is left, and can be stopped; a failed one can retry or skip the item', async () => {
    const before = await countItems()
    const page = await openItems(service)
    await page.chooseMore('Import')
    await page.openFile('a.jsonl', '{"a":1}\n{"a":2}\n{"a":3}')
    const release = await page.hold('POST')
    await page.choose('Import')
    await page.hasFocusOn('Importing…')
    await assertAsksBrowser(page)
    await page.press('Escape')
    await page.sees('0 of 3 items imported so far. The others will not be.')
    await page.choose('Cancel', 'Stop')
    await release()
    await page.sees('1 of 3 items imported.')
    await page.choose('Close', 'End')
    await page.closes()
    assert.equal(await countItems(), before + 1)

    await page.chooseMore('Import')
    const long = `{"long":"${'x'.repeat(1000)}"}`
    await page.openFile('a.jsonl', `{"a":1}\n{"a":2.0}\n\n${long}\n{"a":4}\n${long}`)
    await page.choose('Import')
    await page.sees(/Item 3, which begins on line 4: .*413 · PAYLOAD_TOO_LARGE/)
    await page.sees('2 of 5 items imported.')
    await page.choose('Try item 3 again', 'Skip item 3')
    await page.sees('3 of 5 items imported. Skipped: item 3 (line 4).')
    await assertAccessible(page)
    await page.choose('Skip item 5')
    await page.sees('3 of 5 items imported. Skipped: item 3 (line 4), item 5 (line 6).')
    await page.hasFocusOn('Done')
    await page.choose('Done')
    await page.closes()
    assert.equal(await countItems(), before + 4)
  })
})
