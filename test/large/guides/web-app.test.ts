/** Tests docs/how-to/web-app.md: its page, the output of its client, and its React hook. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scriptedServer } from '../../client/scripted-server.js'
import type { Service } from '../../conformance/client.js'
import { itemsOf } from '../../conformance/expect.js'
import { inSeconds, validClaims } from '../../conformance/tokens.js'
import { inChromium, openPage } from '../../support/chromium.js'
import { ownService } from '../../support/own-service.js'
import { ownProcess, until } from '../../support/process.js'
import {
  saveFiles,
  serveInShell,
  snippetsBy,
  snippetsOf,
  startInShell,
} from '../../support/snippets.js'
import { npm } from '../../support/tarball.js'
import { emptyFolder, readText, root, tsc } from '../../support/tools.js'
import { userProject } from '../../support/user-project.js'

const guide = 'docs/how-to/web-app.md'
const { sh, html, ts } = snippetsBy(guide, ['sh', 'html', 'ts', 'tsx'])
const inService = 'localhost:8000'

/** Serves a page of the guide with the address of the service and a token, and a module at `path`. */
async function servePage(
  text: string,
  service: Service,
  { token = service.validToken(), path = '', module = '' } = {},
): Promise<string> {
  assert.ok(text.includes(inService) && text.includes('PUT THE TOKEN HERE'))
  const page = text.replace(inService, service.baseUrl.host).replace('PUT THE TOKEN HERE', token)
  const { baseUrl } = await scriptedServer([
    (response, { url }) => {
      const isModule = url === path
      response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html')
      response.end(isModule ? module : page)
    },
  ])
  return new URL('/', baseUrl).href
}

test(
  `${guide}: the page lists, adds and deletes items, and reports errors`,
  inChromium,
  async () => {
    const [start = ''] = sh
    const [notes = ''] = html
    const service = await serveInShell(start, { cwd: emptyFolder() })
    const page = await openPage(await servePage(notes, service))
    await page.locator('[name=text]').fill('buy milk')
    await page.getByText('Add').click()
    await page.locator('li').getByText('buy milk').waitFor()
    const count = async () => itemsOf(await service.call('GET', '/items')).length
    assert.equal(await count(), 1)
    await page.locator('li').getByText('Delete').click()
    await until('the note is deleted', async () => (await count()) === 0)

    const token = service.mint({ ...validClaims(), exp: inSeconds(-10) })
    await page.goto(await servePage(notes, service, { token }))
    await page.getByRole('alert').getByText('TOKEN_EXPIRED').waitFor()
  },
)

test(`${guide}: without a bundler, the page follows the list`, inChromium, async () => {
  const [, copy = ''] = sh
  const [, notes = ''] = html
  const [, from = '', to] = /^cp node_modules\/item-store\/(\S+) (\S+)\n$/.exec(copy) ?? []
  const service = await ownService()
  const files = { path: `/${to}`, module: readText(from) }
  const page = await openPage(await servePage(notes, service, files))
  await page.getByText('0 notes').waitFor()
  await service.call('POST', '/items', { project_id: 'notes', data: {} })
  await page.getByText('1 notes').waitFor()
})

test(`${guide}: the TypeScript program compiles and prints the stated output`, async () => {
  const programs = ts.filter((text) => !text.startsWith('// src'))
  const program = programs.join('\n')
  const lines = [...program.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)]
  assert.deepEqual([programs.length, lines.length], [2, 4])
  const service = await ownService()
  const { folder, compile } = userProject(program.replaceAll(inService, service.baseUrl.host))
  assert.equal(compile({ module: 'nodenext', lib: ['es2022'], types: ['node'] }), '')

  const env = { TOKEN: service.validToken() }
  const run = ownProcess([process.execPath, 'program.js'], { cwd: folder, env })
  assert.deepEqual(await run.ended(), [0, null])
  assert.equal(await run.printed(/^/), lines.map(([, line]) => `${line}\n`).join(''))
})

test(`${guide}: the React hook shows every change`, inChromium, async () => {
  const start = sh.at(-1) ?? ''
  const project = newProject()
  const service = await ownService()
  saveFiles(project, snippetsOf(guide), (text) => text.replace(inService, service.baseUrl.host))
  const checked = spawnSync(process.execPath, [tsc], { cwd: project, encoding: 'utf8' })
  assert.equal(checked.stdout, '')

  const env = { TOKEN: service.validToken(), NO_COLOR: '1' }
  const text = await startInShell(start, { cwd: project, env }).printed(/Local: +http\S+/)
  const page = await openPage(/Local: +(http\S+)/.exec(text)?.[1] ?? '')
  await page.getByText('Add').click()
  await page.getByText('Ladder').waitFor()
  await page.getByText('Delete').click()
  await page.getByText('Ladder').waitFor({ state: 'detached' })
  for (const project_id of ['other', 'tools']) {
    await service.call('POST', '/items', { project_id, data: { name: `Lamp of ${project_id}` } })
  }
  await page.getByText('Lamp of tools').waitFor()
  assert.equal(await page.getByText('Lamp of other').count(), 0)
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

/** Creates a project as create-vite does, with this package. */
function newProject(): string {
  const project = emptyFolder()
  mkdirSync(join(project, 'src'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text)
  const packages = ['react@19', 'react-dom@19', '@types/react@19', '@types/react-dom@19']
  npm(project, 'install', '--prefer-offline', '--no-audit', ...packages)
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
