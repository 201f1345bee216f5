/** A user's project in which this package is installed. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { emptyFolder, root, toolsFolder, tsc } from './tools.js'

const packages = {
  'item-store': root,
  ...Object.fromEntries(
    ['lossless-json', 'node-fetch', 'cross-fetch'].map((name) => [
      name,
      join(toolsFolder, 'node_modules', name),
    ]),
  ),
}

export function userProject(program: string, type = 'module') {
  const folder = emptyFolder()
  mkdirSync(join(folder, 'node_modules'))
  for (const [name, path] of Object.entries(packages)) {
    symlinkSync(path, join(folder, 'node_modules', name), 'junction')
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }))
  writeFileSync(join(folder, 'program.ts'), program)

  function compile(options: object, compiler = tsc): string {
    const strict = {
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      ...{ verbatimModuleSyntax: true, target: 'es2022', rootDir: '.' },
      typeRoots: [join(root, 'node_modules/@types')],
    }
    const config = { compilerOptions: { ...strict, ...options }, files: ['program.ts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', folder], {
      encoding: 'utf8',
    })
    return status === 0 ? stdout : `${stdout}\nexit code ${status}`
  }
  return { folder, compile }
}
