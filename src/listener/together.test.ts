/** What arrives while a turn is being worked off is not forgotten. */

import { test } from 'node:test'
import { handleTogether } from './together.js'

test('a request that arrives after the others of its turn have been handled is handled too', async () => {
  await new Promise<void>((resolve) => {
    handleTogether(() => {
      queueMicrotask(() => handleTogether(resolve))
    })
  })
})
