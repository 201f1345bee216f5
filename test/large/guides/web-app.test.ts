/** Tests docs/how-to/web-app.md: its page, the output of its client, and its React hook. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scriptedServer } from '../../client/scripted-server.js'
import { itemsOf } from '../../conformance/expect.js'
import { inSeconds, validClaims } from '../../conformance/tokens.js'
import { inChromium, openPage } from '../../support/chromium.js'
import { ownService } from '../../support/own-service.js'
import { ownProcess, until } from '../../support/process.js'
import { serveInShell, snippetsBy, snippetsOf, startInShell } from '../../support/snippets.js'
import { npm } from '../../support/tarball.js'
import { emptyFolder, readText, root, tsc } from '../../support/tools.js'
import { userProject } from '../../support/user-project.js'

const guide = 'docs/how-to/web-app.md'
const { sh, html, ts } = snippetsBy(guide, ['sh', 'html', 'ts', 'tsx'])
const inService = 'localhost:8000'

test(
  `${guide}: the page lists, adds and deletes items, and reports an expired token`,
  inChromium,
  async () => {
    const [start = assert.fail()] = sh
    const [{ text } = assert.fail()] = html
    const service = await serveInShell(start, { cwd: emptyFolder() })
    assert.ok(text.includes(inService) && text.includes('PUT THE TOKEN HERE'))
    const { baseUrl } = await scriptedServer([
      (response, { url }) => {
        const expired = service.mint({ ...validClaims(), exp: inSeconds(-10) })
        const token = url === '/expired' ? expired : service.validToken()
        const local = text.replace(inService, service.baseUrl.host)
        response.setHeader('content-type', 'text/html')
        response.end(local.replace('PUT THE TOKEN HERE', token))
      },
    ])

    const page = await openPage(new URL('/', baseUrl).href)
    await page.locator('[name=text]').fill('buy milk')
    await page.getByText('Add').click()
    await page.locator('li').getByText('buy milk').waitFor()
    const count = async () => itemsOf(await service.call('GET', '/items')).length
    assert.equal(await count(), 1)
    await page.locator('li').getByText('Delete').click()
    await until('the note is deleted', async () => (await count()) === 0)

    await page.goto(new URL('/expired', baseUrl).href)
    await page.getByRole('alert').getByText('TOKEN_EXPIRED').waitFor()
  },
)

test(`${guide}: without a bundler, the page follows the list`, inChromium, async () => {
  const [, copy = assert.fail()] = sh
  const [, { text } = assert.fail()] = html
  const [, from = '', to = ''] =
    /^cp node_modules\/item-store\/(\S+) (\S+)\n$/.exec(copy.text) ?? []
  const service = await ownService()
  const { baseUrl } = await scriptedServer([
    (response, { url }) => {
      const isModule = url === `/${to}`
      response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html')
      const local = text.replace(inService, service.baseUrl.host)
      response.end(
        isModule ? readText(from) : local.replace('PUT THE TOKEN HERE', service.validToken()),
      )
    },
  ])
  const page = await openPage(new URL('/', baseUrl).href)
  await page.getByText('0 notes').waitFor()
  await service.call('POST', '/items', { project_id: 'notes', data: {} })
  await page.getByText('1 notes').waitFor()
})

test(`${guide}: every TypeScript snippet compiles and prints the stated output`, async () => {
  const programs = ts.map(({ text }) => text).filter((text) => !text.startsWith('// src'))
  const lines = [...programs.join('').matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)]
  assert.ok(programs.length >= 6 && lines.length >= 7)
  const service = await ownService()
  const { folder, compile } = userProject(
    programs.join('\n').replaceAll(inService, service.baseUrl.host),
  )
  assert.equal(compile({ module: 'nodenext', lib: ['es2022'], types: ['node'] }), '')

  const env = { TOKEN: service.validToken() }
  const run = ownProcess([process.execPath, 'program.js'], { cwd: folder, env })
  assert.deepEqual(await run.ended(), [0, null])
  const expected = lines.map(([, line]) => `${line}\n`)
  assert.equal(await run.printed(/^/), expected.join(''))
})

test(`${guide}: the React hook shows every change`, inChromium, async () => {
  const [snippet = assert.fail()] = sh.slice(-1)
  const [install = '', ...commands] = snippet.text.trim().split('\n')
  const project = newProject(install)
  const service = await ownService()
  for (const { text } of snippetsOf(guide)) {
    const [, name] = /^\/\/ (src\/\S+)\n/.exec(text) ?? []
    const local = text.replace(inService, service.baseUrl.host)
    if (name !== undefined) writeFileSync(join(project, name), local)
  }
  const checked = spawnSync(process.execPath, [tsc], { cwd: project, encoding: 'utf8' })
  assert.equal(checked.stdout, '')

  const env = { TOKEN: service.validToken(), NO_COLOR: '1' }
  const start = { ...snippet, text: commands.join('\n') }
  const text = await startInShell(start, { cwd: project, env }).printed(/Local: +http\S+/)
  const page = await openPage(/Local: +(http\S+)/.exec(text)?.[1] ?? '')
  await page.getByText('Add').click()
  await page.getByText('Ladder: 129.90').waitFor()
  await page.getByText('Lend').click()
  await page.getByText('Ladder (lent): 129.90').waitFor()
  const [ladder] = itemsOf(await service.call('GET', '/items'))
  for (const project_id of ['other', 'tools']) {
    await service.call('POST', '/items', { project_id, data: { name: `Lamp of ${project_id}` } })
  }
  await page.getByText('Lamp of tools').waitFor()
  assert.equal(await page.getByText('Lamp of other').count(), 0)
  await service.call('DELETE', `/items/${ladder?.id}`)
  await page.getByText('Ladder').waitFor({ state: 'detached' })
  await page.locator('li').getByText('Delete').click()
  await page.getByText('Lamp').waitFor({ state: 'detached' })
})

/** Files that `npm create vite@latest` writes. */
const files = {
  'package.json':
    '{ "name": "notes", "private": true, "type": "module", "scripts": { "dev": "vite" } }',
  'index.html':
    '<!doctype html><div id="root"></div><script type="module" src="/src/main.tsx"></script>',
  'src/main.tsx': `
    import { StrictMode } from 'react'
    import { createRoot } from 'react-dom/client'
    import App from './App.tsx'
    createRoot(document.getElementById('root')!).render(<StrictMode><App /></StrictMode>)`,
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      ...{ target: 'es2023', lib: ['ES2023', 'DOM'], module: 'esnext', types: ['vite/client'] },
      ...{ moduleResolution: 'bundler', allowImportingTsExtensions: true, noEmit: true },
      ...{ verbatimModuleSyntax: true, jsx: 'react-jsx', erasableSyntaxOnly: true },
      ...{ noUnusedLocals: true, noUnusedParameters: true, strict: true },
    },
    include: ['src'],
  }),
}

/** Creates a project as create-vite does, with this package and the package that the guide says to install. */
function newProject(install: string): string {
  const project = emptyFolder()
  mkdirSync(join(project, 'src'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text)
  const [, name = ''] = /^npm install ([\w-]+)$/.exec(install) ?? assert.fail(install)
  const options = ['--prefer-offline', '--no-audit']
  const packages = ['react@19', 'react-dom@19', '@types/react@19', '@types/react-dom@19', name]
  npm(project, 'install', ...options, ...packages)
  // Copied, not linked, because Vite serves no files outside the project.
  for (const path of ['package.json', 'dist']) {
    cpSync(join(root, path), join(project, 'node_modules/item-store', path), { recursive: true })
  }
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
  for (const path of ['node_modules/vite', 'node_modules/.bin/vite']) {
    symlinkSync(join(root, path), join(project, path))
  }
  return project
}
