/** Checks imports, casts and file sizes, for which the linter has no rules. */

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join, posix, sep } from 'node:path'
import { describe, test } from 'node:test'
import { manifest, readText, root, v8Flags } from './support/tools.js'

/** Folders of src in the order given in CONTRIBUTING.md. A folder imports only itself and later folders. */
const [guide = '', map = ''] = readText('CONTRIBUTING.md').split('\n## Map\n')
const order = [...map.matchAll(/^\| `src\/([\w.-]+)\/?` \|/gm)].map(([, name = '']) => name)

const mostFolders = 14
const mostImports = 40 // pairs of folders in which the first imports the second
const longestFile = 300 // lines

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => file.split(sep).join('/'))

const pages = readdirSync(join(root, 'pages'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => `../pages/${file.split(sep).join('/')}`)

function textOf(file: string): string {
  return readText(join('src', file))
}

function importsOf(file: string): string[] {
  return [...textOf(file).matchAll(/(?:from |import\()'(\.[^']+)\.js'/g)].map(([, path = '']) => {
    const imported = posix.normalize(posix.join(posix.dirname(file), `${path}.ts`))
    return pages.includes(`${imported}x`) ? `${imported}x` : imported
  })
}

function folderOf(file: string): string {
  return file.split('/')[0] ?? ''
}

function rank(file: string): number {
  const place = order.indexOf(folderOf(file))
  assert.notEqual(place, -1, `src/${file} is not in the map of CONTRIBUTING.md`)
  return place
}

describe('imports', () => {
  test('run down the map', () => {
    for (const file of sources) {
      for (const imported of importsOf(file)) {
        assert.ok(sources.includes(imported), `${file} imports ${imported}, which is not in src`)
        assert.ok(rank(imported) >= rank(file), `${file} imports ${imported}, an earlier folder`)
      }
    }
  })

  test('of the items page go from the app to its features, and never from one feature to another', () => {
    const layers = ['', 'bar list edit dialogs', 'ui state', 'service', 'model']
    const folderOf = (file: string) => /\/pages\/items\/(?:(\w+)\/)?/.exec(file)?.[1] ?? ''
    const layerOf = (file: string) =>
      layers.findIndex((layer) => layer.split(' ').includes(folderOf(file)))
    for (const file of pages.filter((file) => file.includes('/items/'))) {
      assert.ok(layerOf(file) >= 0, `${file} is in no layer`)
      for (const imported of importsOf(file).filter((each) => pages.includes(each))) {
        const isBelow = layerOf(imported) > layerOf(file) || imported.includes('/shared/')
        assert.ok(isBelow || folderOf(imported) === folderOf(file), `${file} imports ${imported}`)
      }
    }
  })

  test(`connect at most ${mostFolders} folders by at most ${mostImports} imports`, () => {
    const imports = new Set<string>()
    for (const file of sources) {
      const folder = folderOf(file)
      for (const imported of importsOf(file).map(folderOf)) {
        if (imported !== folder) imports.add(`${folder} -> ${imported}`)
      }
    }
    assert.ok(order.length <= mostFolders, order.join(' '))
    assert.ok(imports.size <= mostImports, `${imports.size}: ${[...imports].sort().join(', ')}`)
  })
})

test('the core is twelve files of at most 1,800 lines together', () => {
  const [core = ''] = guide.split('\n## Setting up\n')
  const files = [...core.matchAll(/^\| `(src\/.*?)` \|/gm)].map(([, file = '']) => file)
  const lines = files.map((file) => readText(file).trimEnd().split('\n').length)
  assert.equal(new Set(files).size, 12)
  assert.ok(lines.reduce((sum, count) => sum + count) <= 1_800, lines.join(' + '))
})

test('every folder of src and pages is in the map, which lists no other of src, and each once', () => {
  const folders = new Set(sources.map(folderOf))
  assert.deepEqual(new Set(order), folders)
  assert.equal(order.length, folders.size)
  for (const file of pages.filter((file) => /^\.\.\/pages\/.*\//.test(file)))
    assert.ok(map.includes(`\n| \`${posix.dirname(file.slice('../'.length))}/`), file)
})

/** Files that match `files` may import only modules that match `value`, or types from modules that match `type`. */
const rules: [what: string, files: RegExp, value: RegExp, type?: RegExp][] = [
  ['item and store know no HTTP', /^(item|store)\//, /^(?!node:http|\.\.\/(?:http|listener))/],
  [
    'the listener knows only memory and timers of src',
    /^listener\//,
    /^(\.\/|\.\.\/memory\/|node:)/,
  ],
  ['the interface is pure: no platform', /^interface\//, /^(\.\/|valibot$|@valibot\/)/],
  [
    'the client is for browsers: it imports only types from the rest of src, and no packages',
    /^client\//,
    /^\.\//,
    /^\.\.?\/(interface\/)?[\w-]+\.js$/,
  ],
  ['the pages know nothing of the platform', /^\.\.\/pages\//, /^(?!node:)/],
]
for (const [what, files, value, type = value] of rules) {
  test(what, () => {
    const concerned = [...sources, ...pages].filter((file) => files.test(file))
    assert.ok(concerned.length > 0)
    for (const file of concerned) {
      const statements = textOf(file).matchAll(/^(?:import|export)\b[^']*?from '([^']+)'/gm)
      for (const [statement, name = ''] of statements) {
        const isType = /^(import|export) type\b/.test(statement)
        assert.match(name, isType ? type : value, `${file}: ${statement}`)
      }
    }
  })
}

test('only config, auth/secret and two files of the commands touch the environment', () => {
  for (const file of sources) {
    if (/^(config\/.*|commands\/(conformance|secret)|auth\/secret)\.ts$/.test(file)) continue
    assert.doesNotMatch(codeOf(textOf(file)).join('\n'), /process\.env/, file)
  }
})

/** Globals that test runners replace or lack, and `instanceof` checks that are false for Node's objects in a runner. */
const runnerGlobals =
  /(?<![.\w])(?:(?:set|clear)(?:Timeout|Interval|Immediate)|queueMicrotask|performance|URL|Text(?:En|De)coder|Abort(?:Controller|Signal)|structuredClone|fetch|Event(?:Target)?)\b|process\.(?:nextTick|hrtime)|instanceof (?:\w*Error|RegExp|Date|Map|Set|Promise|\w*Array|ArrayBuffer)\b/g
/**
 * Named imports from modules whose exports test runners replace too. It's safe only to import such a module as a whole,
 * and to keep its functions.
 */
const replacedModules = /^import (?:type )?\{.* from 'node:(?:timers(?:\/promises)?|perf_hooks)'$/m

test('all that the embedded library loads keeps its timers, and takes what runners replace or lack from modules', () => {
  const loaded = new Set(['index.ts'])
  for (const file of loaded) for (const each of importsOf(file)) loaded.add(each)
  const isOwn =
    /^(?!client\/|memory\/timers|store\/redis\/(?!address)|auth\/(?:secret|read)-file|config\/env-file|http\/metrics)/ // the others are not called
  const ownErrors = sources.flatMap((file) =>
    [...textOf(file).matchAll(/class (\w+Error) /g)].map(([, name]) => `instanceof ${name}`),
  )
  assert.ok(loaded.size > 50 && ownErrors.length > 5)
  for (const file of [...loaded].filter((file) => isOwn.test(file))) {
    const text = textOf(file)
    const kept = [...text.matchAll(/^(?:import|const) \{(.*)\} (?:from|=) /gm)].join()
    const used = codeOf(text.replaceAll(/^const \{.*\} = timers.*/gm, '')).join('\n')
    const wrong = [...used.matchAll(runnerGlobals)]
      .map(([name]) => name)
      .filter((name) => !ownErrors.includes(name) && !new RegExp(`\\b${name}\\b`).test(kept))
    assert.deepEqual(wrong, [], file)
    assert.doesNotMatch(text, replacedModules, file)
  }
})

test(`no file is longer than ${longestFile} lines`, () => {
  for (const file of [...sources, ...pages]) {
    assert.ok(textOf(file).split('\n').length <= longestFile, file)
  }
})

test('each cast has its reason on the same line', () => {
  for (const file of [...sources, ...pages]) {
    const lines = textOf(file).split('\n')
    for (const [place, line] of codeOf(textOf(file)).entries()) {
      const where = `${file}:${place + 1}`
      if (/\bas (?!const\b)/.test(line)) assert.match(lines[place] ?? '', /\/\/ \S/, where)
    }
  }
})

test('the pages import from src only what browsers can run, and nothing from each other', () => {
  const shared = ['pages/shared/', 'src/interface/', 'src/client/']
  const ofItem = ['json-syntax', 'scan', 'seed-objects'].map((name) => `src/item/${name}.ts`)
  for (const file of pages) {
    const allowed = [...shared, ...ofItem, `pages/${file.split('/')[2]}/`]
    for (const imported of importsOf(file)) {
      const isAllowed = allowed.some((start) => imported.startsWith(`../${start}`))
      assert.ok(isAllowed, `${file}: ${imported}`)
    }
  }
})

test('item-store conformance runs every file of the conformance tests', () => {
  const names = readdirSync(join(root, 'test/conformance'))
  const files = names.filter((file) => file.endsWith('.test.ts'))
  const main = readText('test/conformance/main.ts')
  const imported = [...main.matchAll(/^import '\.\/(.*)\.js'$/gm)].map(([, name]) => `${name}.ts`)
  assert.deepEqual(imported.sort(), files.sort())
})

test('what we ship and measure gets its V8 flags from the command line: those of `npm start`', () => {
  const image: string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(readText('Dockerfile'))?.[1] ?? '')
  const [, unit = ''] = /^ExecStart=(.*)$/m.exec(readText('deploy/item-store.service')) ?? []
  for (const command of [manifest.scripts.start, manifest.scripts.dev, image.join(' '), unit]) {
    assert.deepEqual(command.match(/--\S+/g), v8Flags, command)
  }
  assert.ok(readText('bench/peers/sides.ts').includes('...v8Flags'))
  for (const file of sources) assert.doesNotMatch(textOf(file), /setFlagsFromString/, file)
})

/** Returns a source file's lines without comments, imports, or the contents of strings and JSX tags. */
function codeOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/(^|\s)(\/\/|\/?\*).*/, '').replaceAll(/'[^']*'/g, "''"))
    .join('\n')
    .replaceAll(/`[^`]*`|^(?:import|export) [^'`]* from ''/gm, (text) =>
      text.replaceAll(/[^\n]/g, ' '),
    )
    .replaceAll(/(?<!=)>[^<>{}=]*(?=[<{])/g, (text) => text.replaceAll(/[^\n]/g, ' '))
    .split('\n')
}
