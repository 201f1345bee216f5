/** Tests of `JWT_SECRET_FILE`: the secrets in the file may change while the service runs. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serviceAt } from './conformance/client.js'
import { assertServesWithoutSecret } from './support/missing-secret.js'
import {
  linuxTest,
  ownService,
  runCommand,
  startCommand,
  ownTest as test,
} from './support/own-service.js'
import { until } from './support/process.js'
import { emptyFolder } from './support/tools.js'

const folder = emptyFolder()
const [one, two] = ['one secret of at least thirty-two bytes', 'two: a secret of at least 32 bytes']

let files = 0
function fileWith(text: string | Buffer): string {
  files += 1
  const path = join(folder, `secret-${files}`)
  writeFileSync(path, text)
  return path
}

async function serviceWith(path: string) {
  const own = await ownService({ JWT_SECRET: '', JWT_SECRET_FILE: path })
  const statusOf = async (secret: string) => {
    const { request, validToken } = serviceAt(own.baseUrl, secret)
    return (await request('GET', '/items', { token: validToken() })).status
  }
  const statuses = async () => [await statusOf(one), await statusOf(two)]
  const become = (expected: number[]) =>
    until(`statuses ${expected}`, async () => {
      return (await statuses()).join() === expected.join() || undefined
    })
  const errors = () =>
    own.log.filter(({ level }) => level === 'error').map(({ msg }) => String(msg))
  return { ...own, statuses, become, errors }
}

function relink(path: string, text: string): void {
  symlinkSync(fileWith(text), `${path}.new`)
  renameSync(`${path}.new`, path)
}

const changes: [how: string, change: (path: string, text: string) => void][] = [
  ['is overwritten', writeFileSync],
  ['is replaced by a rename', (path, text) => renameSync(fileWith(text), path)],
  ['becomes a link to another file', relink],
]
for (const [how, change] of changes) {
  test(`when the file ${how}, tokens of its secrets become valid, and all others invalid`, async () => {
    const path = fileWith(`${one}\n`)
    const { become, statuses, errors } = await serviceWith(path)
    assert.deepEqual(await statuses(), [200, 401])
    change(path, `${one}\r\n\n${two}\n`)
    await become([200, 200])
    change(path, two)
    await become([401, 200])
    if (change !== writeFileSync) assert.deepEqual(errors(), []) // an overwritten file may be empty for a moment
  })
}

test('when the file is deleted or has no usable secret, its last secrets stay valid, and the log has an error', async () => {
  const path = fileWith(`${one}\n${two}\n`)
  const { become, statuses, errors, request, log } = await serviceWith(path)
  const problems: [string | Buffer | undefined, RegExp][] = [
    [undefined, /ENOENT.* The previous secrets remain valid$/],
    ['\n\n', /it has no secret/],
    ['a\nb\nc\nd', /it has 4 lines with secrets; at most 3 are allowed/],
    [Buffer.from([0x61, 0xff]), /it is not UTF-8/],
  ]
  for (const [index, [text, says]] of problems.entries()) {
    if (text === undefined) rmSync(path)
    else renameSync(fileWith(text), path) // a rename, so that the file is never empty or half written
    const error = await until('an error', () => errors()[index])
    assert.match(error, says)
    assert.deepEqual(await statuses(), [200, 200])
    assert.equal((await request('GET', '/health')).status, 200)
  }
  writeFileSync(path, two)
  await become([401, 200])
  assert.deepEqual(log.at(-1)?.secrets, 1)
  assert.doesNotMatch(JSON.stringify(log), new RegExp(`${one}|${two}`))
})

test('without a usable secret in the file, the service starts unhealthy, and recovers by itself', async () => {
  const path = join(folder, 'late')
  const own = startCommand(['serve', '--port', '0'], { JWT_SECRET_FILE: path })
  await assertServesWithoutSecret(own, /^JWT_SECRET_FILE .*ENOENT.*Put a secret into the file/)
  const { become } = await serviceWith(path)
  writeFileSync(path, one)
  await become([200, 401])
})

test('a byte order mark at the beginning of the file is not part of a secret, and white space causes a warning', async () => {
  const { statuses, log } = await serviceWith(fileWith(`\ufeff${one}\r\n${two} \n`))
  assert.deepEqual(await statuses(), [200, 401])
  const warnings = log.filter(({ level }) => level === 'warn').map(({ msg }) => msg)
  const expected = 'a secret in JWT_SECRET_FILE begins or ends with white space'
  assert.deepEqual(warnings, [`${expected}, which is part of the secret`])
})

linuxTest('a file without an end is an error, and takes no memory', async () => {
  const { statuses, errors } = await serviceWith('/dev/zero')
  assert.deepEqual(await statuses(), [503, 503])
  assert.match(
    `${errors()}`,
    /^JWT_SECRET_FILE \/dev\/zero: larger than 1 MiB: item requests get 503/,
  )
})

linuxTest(
  'a file that has no data is reported once, is not read twice at a time, and delays no stop',
  async () => {
    const pipe = (name: string) => {
      assert.equal(spawnSync('mkfifo', [join(folder, name)]).status, 0)
      return join(folder, name)
    }
    const [atStart, later, toSign] = [pipe('at-start'), join(folder, 'later'), pipe('to-sign')]
    writeFileSync(later, one)
    const [late, running] = await Promise.all([serviceWith(atStart), serviceWith(later)])
    renameSync(pipe('next'), later)

    await until('both have logged an error', () => late.errors()[0] && running.errors()[0])
    assert.match(
      `${late.errors()}`,
      /^JWT_SECRET_FILE \S+: no data within 5 s: item requests get 503\./,
    )
    writeFileSync(atStart, one)
    await late.become([200, 401])
    for (const { child, errors, baseUrl, statuses, stop } of [late, running]) {
      assert.deepEqual(await statuses(), [200, 401])
      assert.equal((await fetch(new URL('/docs', baseUrl))).status, 200)
      const files = spawnSync('ls', ['-l', `/proc/${child.pid}/fd`], { encoding: 'utf8' }).stdout
      assert.ok((files.match(/at-start|later/g)?.length ?? 0) <= 1, files)
      assert.equal(new Set(errors()).size, errors().length)
      assert.deepEqual(await stop(), [0, null])
    }
    assert.match(`${running.errors()}`, /: no data within 5 s. The previous secrets remain valid$/)

    const { status, stderr } = runCommand(['token', '--sub=a'], { JWT_SECRET_FILE: toSign })
    const says = `item-store: JWT_SECRET_FILE ${toSign}: no data within 5 s\n`
    assert.deepEqual([status, stderr], [2, says])
  },
)

test('the first secret in the file signs tokens', () => {
  const variables = { JWT_SECRET_FILE: fileWith(`${two}\n${one}\n`) }
  const token = runCommand(['token', '--sub', 'a'], variables).stdout.trim()
  const [header = '', claims = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url'))
  const { mint } = serviceAt(new URL('http://localhost'), two)
  assert.equal(mint(claims, { header: header.toString() }), token)
})
