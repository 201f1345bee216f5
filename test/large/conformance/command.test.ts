/** Tests the reports of `item-store conformance`, including reports on services that send hostile responses. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { answers, scriptedServer } from '../../client/scripted-server.js'
import { signatureOf } from '../../conformance/tokens.js'
import { cli, ownService, startCommand } from '../../support/own-service.js'
import { ownProcess } from '../../support/process.js'
import { cleanEnvironment, emptyFolder, programTest } from '../../support/tools.js'
import { type Reply, smallService } from './small-service.js'

const secret = 'a secret of at least thirty-two bytes'

function start(url: string, reporter: string, env: NodeJS.ProcessEnv = { JWT_SECRET: secret }) {
  return startCommand(['conformance', url, '--reporter', reporter], env)
}

async function reportOf(url: string, reporter: string): Promise<string> {
  const own = start(url, reporter)
  assert.deepEqual(await own.ended(), [1, null])
  return await own.printed(/$/)
}

test('the report lists passed tests, and the exit code is 0', async () => {
  const { baseUrl, secret: JWT_SECRET } = await ownService()
  const folder = emptyFolder()
  writeFileSync(join(folder, '.env'), `JWT_SECRET=${JWT_SECRET}`)
  // A trailing slash doesn't affect the report, nor does NODE_TEST_CONTEXT, which Node's test runner sets.
  const variables = { NODE_TEST_CONTEXT: 'child-v8' }
  const own = startCommand(['conformance', `${baseUrl}/`], variables, folder)
  assert.deepEqual(await own.ended(), [0, null])
  const report = await own.printed(/^ℹ fail 0$/m)
  assert.match(report, /^✔ §2\.4 §3 §4\.1 health is healthy/m)
  assert.doesNotMatch(report, /\$TOKEN/)
})

test('a service that redirects every request to itself is tested, and fails', async () => {
  const { baseUrl } = await scriptedServer([answers(307, '', { location: '/' })])
  assert.match(await reportOf(baseUrl, 'spec'), /^✖ §2\.4 /m)
})

test('SIGTERM ends the command and the tests that it runs', async () => {
  const service = await ownService()
  const own = start(service.baseUrl.href, 'tap', { JWT_SECRET: service.secret })
  await own.printed(/^ok 1 /m)
  own.child.kill('SIGTERM')
  assert.deepEqual(await own.ended(), [1, null])
  assert.doesNotMatch(await own.printed(/^/), /^# pass/m)
})

test('the report has a working curl command and the response of each failed case, and counts the causes', async () => {
  const defective = ({ status, headers, body }: Reply): Reply => ({
    status,
    headers: { ...headers, 'www-authenticate': undefined },
    body: status === 422 ? "it's wrong" : body,
  })
  const { baseUrl } = await smallService({ reply: defective })
  const report = await reportOf(baseUrl.href, 'spec')
  const [, found = ''] =
    /^✖ §2\.2 §3 §4\.3 §4\.5 data null: .*\n((?: .*\n|\n)+)/m.exec(report) ?? []
  assert.match(found, /^ +the body is not JSON\n/)
  assert.match(found, /\n +422 Unprocessable Entity\n(.*\n)+ +it's wrong\n/)
  assert.doesNotMatch(report, /^ +at |dist\//m)

  const [curl = ''] = /curl .*/.exec(found) ?? []
  const [setToken = ''] = /TOKEN=\$\(.*\)/.exec(report) ?? []
  const script = `${setToken.replace('item-store', `"${process.execPath}" "${cli}"`)}; ${curl}`
  const env = { ...cleanEnvironment(), JWT_SECRET: secret }
  const shell = ownProcess(['bash', '-c', script], { cwd: emptyFolder(), env })
  assert.match(await shell.printed(/wrong/), /^HTTP\/1\.1 422 .*it's wrong$/s)

  const count = report.match(/^✖ .* 401 /gm)?.length
  assert.ok(Number(count) > 15)
  const cause = `^${count} cases: no WWW-Authenticate in a 401, expected 'Bearer'$`
  assert.match(report, new RegExp(cause, 'm'))
})

/** Control characters and markup that a terminal, text viewer or XML parser would interpret. */
const hostile =
  '\x1b]0;owned\x07 \x1b[2J \u202eabc\u2066 \u009b31m \0 \uffff \ud800 ]]> <!-- &amp; "\''
const acts = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\uffff]/u

for (const reporter of ['spec', 'junit']) {
  test(`the report ${reporter} escapes the bodies of responses, and contains no signature of a valid token`, async () => {
    const signatures = new Set<string>()
    const { baseUrl } = await scriptedServer([
      (response, { headers: { authorization = '' } }) => {
        const [, signed = '', signature = ''] = /^Bearer (.+)\.(.+)$/.exec(authorization) ?? []
        if (signed !== '' && signature === signatureOf(signed, secret)) signatures.add(signature)
        const [type, body] = ['application/json', `${hostile}${authorization}${hostile}`]
        response.writeHead(200, { 'content-type': type, 'x-hostile': '\u009b31m' }).end(body)
      },
    ])
    const report = await reportOf(baseUrl, reporter)
    assert.match(report, /\\u\{1b\}\]0;owned\\u\{7\} .*\\u\{202e\}abc/)
    assert.doesNotMatch(report, acts)
    assert.ok(signatures.size > 0)
    for (const signature of signatures) assert.ok(!report.includes(signature.slice(1)))
    if (reporter === 'spec') return
    assert.match(report, /<testcase [^>]*name="§9\.1 [^>]*\/>/, 'a passed test')
    writeFileSync(join(folder, 'report.xml'), report)
  })
}

const folder = emptyFolder()

programTest('python3', 'an XML parser can read the report about a hostile service', (python) => {
  const program = `
import xml.etree.ElementTree
suite = xml.etree.ElementTree.parse('report.xml').getroot()[0]
print(int(suite.get('failures')) > 100, ']]>' in suite.find('.//failure').text)`
  const options = { cwd: folder, encoding: 'utf8' } as const
  const { stdout, stderr } = spawnSync(python, ['-c', program], options)
  assert.deepEqual({ stdout, stderr }, { stdout: 'True True\n', stderr: '' })
})
