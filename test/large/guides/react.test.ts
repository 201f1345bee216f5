/** Tests the React hook in docs/how-to/web-app.md in a project like those made by create-vite. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { itemsOf } from '../../conformance/expect.js'
import { inChromium, openPage } from '../../support/chromium.js'
import { ownService } from '../../support/own-service.js'
import { snippetsOf, startInShell } from '../../support/snippets.js'
import { emptyFolder, npm } from '../../support/tarball.js'
import { root, tsc } from '../../support/tools.js'

const guide = 'docs/how-to/web-app.md'

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

test('docs/how-to/web-app.md: the React hook shows every change', inChromium, async () => {
  const { project, start } = newProject()
  const service = await ownService()
  for (const { text } of snippetsOf(guide)) {
    const [, name] = /^\/\/ (src\/\S+)\n/.exec(text) ?? []
    const local = text.replace('http://localhost:8000/api/v1', service.baseUrl.href)
    if (name !== undefined) writeFileSync(join(project, name), local)
  }
  const checked = spawnSync(process.execPath, [tsc], { cwd: project, encoding: 'utf8' })
  assert.equal(checked.stdout, '')

  const env = { TOKEN: service.validToken(), NO_COLOR: '1' }
  const text = await startInShell(start, { cwd: project, env }).printed(/Local: +http\S+/)
  const page = await openPage(/Local: +(http\S+)/.exec(text)?.[1] ?? '')
  await page.getByText('Add').click()
  await page.getByText('Ladder: 129.90').waitFor()
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

function newProject() {
  const project = emptyFolder()
  mkdirSync(join(project, 'src'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text)
  const snippet = snippetsOf(guide).findLast(({ language }) => language === 'sh')
  assert.ok(snippet !== undefined)
  const [install = '', ...others] = snippet.text.trim().split('\n')
  const [, name = ''] = /^npm install ([\w-]+)$/.exec(install) ?? assert.fail(install)
  const types = ['@types/react@19', '@types/react-dom@19']
  npm(
    project,
    'install',
    '--prefer-offline',
    '--no-audit',
    'react@19',
    'react-dom@19',
    ...types,
    name,
  )
  // The package is copied, because Vite serves no files outside the project.
  for (const path of ['package.json', 'dist']) {
    cpSync(join(root, path), join(project, 'node_modules/item-store', path), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules/vite'), join(project, 'node_modules/vite'))
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
  symlinkSync(join(root, 'node_modules/.bin/vite'), join(project, 'node_modules/.bin/vite'))
  return { project, start: { ...snippet, text: others.join('\n') } }
}
