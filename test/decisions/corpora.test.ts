/** Tests what spec §2.1 leaves open about unusual JSON texts and strings. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create, itemOf, stored } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { accepted } from '../corpora/json-values.js'
import { strings } from '../corpora/strings.js'
import { itemText, sendText } from './expect.js'

const service = await useService()

const deep = {
  '100,000 arrays nested in each other': `${'['.repeat(100_000)}1${']'.repeat(100_000)}`,
  '100,000 objects nested in each other': `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
}
for (const [title, value] of Object.entries({ ...accepted, ...deep })) {
  test(`§2.1 a value comes back byte for byte: ${title}`, async () => {
    assert.doesNotThrow(() => JSON.parse(value)) // Node.js accepts the text too
    const body = `{"data":{"value":${value}}}`
    const created = await sendText(service, 'POST', '/items', body)
    const { id } = itemOf(created, 201)
    const expected = `{"id":"${id}","project_id":null,"value":${value}}`
    assert.equal(itemText(created), expected)
    assert.equal(itemText(await sendText(service, 'PUT', `/items/${id}`, body)), expected)
    assert.equal(itemText(await service.call('GET', `/items/${id}`)), expected)
    assert.ok((await service.call('GET', '/items')).text.includes(expected))
  })
}

for (const [title, texts] of Object.entries(strings)) {
  test(`§2.1 strings come back unchanged, as value, name and project_id: ${title}`, async () => {
    const data = Object.fromEntries(texts.map((text) => [`_${text}`, text]))
    const { id } = await create(service, { data, texts }, texts.find(Boolean) ?? 'p')
    const kept = await stored(service, id)
    assert.deepEqual(kept?.data, data)
    assert.deepEqual(kept?.texts, texts)
    assert.equal(kept?.project_id, texts.find(Boolean))
  })
}
