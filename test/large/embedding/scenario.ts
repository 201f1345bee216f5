/** Uses every part of the embedded store that waits or yields. Runs in test runners, so imports only Node's modules. */

import { request } from 'node:http'
import type { startItemStore } from '../../../src/index.js'

interface Answer {
  readonly status: number | undefined
  readonly location: string
  readonly tag: string
}

/** What `scenario` returns: the status of each request, in order. A 0 is a count of recorded requests. */
export const expected = '200 201 201 200 200 422 204 200 304 404 200 401 500 200 0 201 503 503 0'

/** @param fake switches fake timers on, once the store has started. @param seconds how long a read waits in vain. */
export async function scenario(start: typeof startItemStore, fake: () => void, seconds: number) {
  const store = await start({ delay: 1, ids: 'a seed' })
  fake()
  const token = await store.token()

  /** Sends a request with Node's own client, because some environments have no `fetch`. */
  function call(method: string, path: string, body = '', headers = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const authorization = `Bearer ${method === 'HEAD' ? 'invalid' : token}`
      const options = { method, headers: { authorization, ...headers } }
      request(store.url + path, options, (response) => {
        const { statusCode: status, headers } = response.resume()
        const { location = '', etag: tag = '' } = headers
        response.on('end', () => resolve({ status, location, tag }))
      })
        .on('error', reject)
        .end(body)
    })
  }

  const items = '/api/v1/items'
  const long = JSON.stringify({ data: { text: 'x'.repeat(100_000) } })
  const all = [await call('GET', '/api/v1/health'), await call('POST', items, '{"data":{"n":1.0}}')]
  const created = await call('POST', items, long)
  const list = await call('GET', items)
  const waiting = call('GET', items, '', { prefer: 'wait=60', 'if-none-match': list.tag })
  all.push(created, await call('GET', created.location), list, await call('POST', items, '{'))
  all.push(await call('DELETE', created.location), await waiting)
  const { tag } = await call('GET', items)
  all.push(await call('GET', items, '', { prefer: `wait=${seconds}`, 'if-none-match': tag }))
  all.push(await call('GET', '/docs/how-to/missing.md'), await call('GET', '/openapi.json'))
  all.push(await call('HEAD', items))
  store.fail([500])
  all.push(await call('GET', items))

  // The store gives memory back when most of these items are deleted.
  const ids = await store.seed(Array.from({ length: 80 }, () => ({ text: 'x'.repeat(30_000) })))
  const deleted = await Promise.all(ids.map((id) => call('DELETE', `${items}/${id}`)))
  all.push(deleted.find(({ status }) => status !== 204) ?? (await call('GET', items)))
  await store.reset()
  const left = store.requests().length
  const again = await call('POST', items, long)
  store.delay(60_000)
  const delayed = [call('GET', items), call('POST', items, long)]
  await call('GET', '/api/v1/health')
  await store.reset()
  const failed = await Promise.all(delayed)
  await store.stop()
  const statuses = [...all.map(({ status }) => status), left, again.status]
  return [...statuses, ...failed.map(({ status }) => status), store.requests().length].join(' ')
}
