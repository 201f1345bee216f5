/** Tests of the API page's code samples, which run against the service exactly as the page shows them. */

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { inChromium, type Page } from '../../support/chromium.js'
import { useGuardedPages } from '../../support/guarded-page.js'
import { ownService } from '../../support/own-service.js'
import { unlessMissing } from '../../support/tools.js'
import { userProject } from '../../support/user-project.js'

const service = await ownService()
const openPage = useGuardedPages()
const { folder } = userProject('')
const env = { ...process.env, TOKEN: service.validToken() }

const runners = {
  curl: ['bash', 'sample.sh'],
  JavaScript: [process.execPath, 'sample.mjs'],
  TypeScript: [process.execPath, 'sample.mjs'],
  Python: ['python3', 'sample.py'],
} as const
type Language = keyof typeof runners

const hasRequests = spawnSync('python3', ['-c', 'import requests']).status === 0

async function run(language: Language, program: string): Promise<string> {
  const [command, file] = runners[language]
  writeFileSync(join(folder, file), program)
  const { stdout } = await promisify(execFile)(command, [file], { cwd: folder, env })
  return stdout
}

function sampleOf(page: Page, operation: string, language: Language) {
  return page
    .locator(`#${operation}`)
    .getByRole('figure', { name: new RegExp(` in ${language}$`) })
    .textContent()
}

/** @param values values to fill in, by the labels of their fields. */
async function fill(page: Page, operation: string, values: Record<string, string>) {
  const section = page.locator(`#${operation}`)
  await section.getByRole('button', { name: 'Try it' }).click()
  await section.getByRole('button', { name: 'Send' }).waitFor()
  await page.evaluate(
    `for (const each of document.querySelectorAll('form details')) each.open = true`,
  )
  for (const [label, value] of Object.entries(values)) {
    await section.getByLabel(label, { exact: true }).fill(value)
  }
  await section.getByRole('button', { name: 'Show the code' }).click()
}

async function stored(id: string): Promise<string | undefined> {
  const { text } = await service.call('GET', `/items/${id}`)
  return /"data":\{"id":"[^"]+",(.*)\}\}$/s.exec(text)?.[1]
}

for (const language of Object.keys(runners) as Language[]) {
  const missing = language === 'Python' && !hasRequests && 'requests of Python'
  const options = missing ? unlessMissing(missing) : inChromium
  test(`code in ${language} sends what the forms send, and has no token`, options, async () => {
    const page = await openPage(`${service.baseUrl.origin}/docs#token=${env.TOKEN}`)
    await page.locator('#createItem').getByLabel(language, { exact: true }).check()
    const call = async (operation: string) => {
      const program = (await sampleOf(page, operation, language)) ?? ''
      assert.ok(!program.includes(env.TOKEN), program)
      return await run(language, program)
    }
    await page.reload() // the language is remembered
    const idIn = (text: string) => text.match(/[\da-f]{8}-[\da-f-]{27}/g)?.at(-1) ?? ''
    const itemId = idIn(await call('createItem'))
    assert.equal(
      (await stored(itemId))?.replaceAll(/\s/g, ''),
      '"project_id":"demo","title":"Buymilk","price":1.5,"done":false',
    )

    await fill(page, 'readItem', { item_id: itemId })
    assert.ok((await call('readItem')).includes('Buy milk'))
    assert.ok((await call('listItems')).includes(itemId))
    await fill(page, 'listItems', { project_id: 'of nobody & all' })
    assert.ok(!(await call('listItems')).includes(itemId))
    await call('replaceItem')
    assert.match(
      (await stored(itemId)) ?? '',
      /^"project_id":null,"title": ?"Buy milk",\s*"done": ?true$/,
    )
    await fill(page, 'deleteItem', { 'If-Match': '"another"' })
    await call('deleteItem').catch((error: Error) =>
      assert.match(error.message, /PRECONDITION_FAILED/),
    )
    assert.ok(await stored(itemId), 'it had another tag')
    await fill(page, 'deleteItem', { 'If-Match': '' })
    await call('deleteItem')
    assert.equal(await stored(itemId), undefined)
    assert.ok((await call('checkHealth')).includes('healthy'))

    // The body has values that a parser would change. Body and headers are sent exactly as typed.
    const members = `"n": 12345678901234567890, "p": 1.0, "it's": "\\u0041 \`$TOKEN", "__proto__": -0`
    const key = `the'only'one ${language}`.replace(' ', '-')
    await fill(page, 'createItem', { Body: `{"data": {${members}}}`, 'Idempotency-Key': key })
    if (language === 'TypeScript') {
      const sample = (await sampleOf(page, 'createItem', language)) ?? ''
      return assert.match(sample, /^\/\/ .*cannot send this/)
    }
    const text = await call('createItem')
    const createdId = idIn(text)
    assert.equal(idIn(await call('createItem')), createdId)
    assert.equal(await stored(createdId), `"project_id":null,${members}`)
    assert.ok(text.includes('12345678901234567890') && text.includes('1.0'), text)
  })
}

test('the quick start creates an item and lists it', inChromium, async () => {
  const page = await openPage(`${service.baseUrl.origin}/docs`)
  const commands = await page.getByRole('figure', { name: 'Quick start' }).textContent()
  const output = await run('curl', `item-store() { echo '${env.TOKEN}'; }\n${commands}`)
  assert.match(output, /"Item created successfully".*"Items retrieved successfully".*"Buy milk"/s)
})
