/** Reads the fenced code blocks of Markdown files, and runs them in a shell. */

import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from '../conformance/client.js'
import { cli, healthyAt } from './own-service.js'
import { freePort, type OwnProcess, ownProcess } from './process.js'
import { cleanEnvironment, emptyFolder, readText, root, toolsFolder } from './tools.js'

export interface Snippet {
  readonly language: string // such as `sh`; may be empty
  readonly text: string
}

export function snippetsOf(file: string): Snippet[] {
  return snippetsIn(readText(file))
}

export function snippetsIn(document: string): Snippet[] {
  const blocks = document.matchAll(/^( *)```([^\n]*)\n(.*?)^\1```$/gms)
  return Array.from(blocks, ([, indent = '', language = '', text = '']) => {
    return { language, text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '') }
  })
}

/** Returns the code blocks of each language. @throws {AssertionError} if the document has others than these languages. */
export function snippetsBy<L extends string>(
  file: string,
  languages: readonly L[],
): Record<L, string[]> {
  const all = snippetsOf(file)
  const found = new Set(all.map(({ language }) => language))
  assert.deepEqual(found, new Set(languages), `the languages of the blocks in ${file}`)
  const textsIn = (name: L) =>
    all.filter(({ language }) => language === name).map(({ text }) => text)
  const entries = languages.map((name) => [name, textsIn(name)])
  return Object.fromEntries(entries) as Record<L, string[]> // there is an entry for each language
}

/** Creates a folder with the files of a guide, and the packages that they import. */
export function folderOf(file: string, change = (text: string) => text): string {
  const folder = emptyFolder()
  saveFiles(folder, snippetsOf(file), change)
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/item-store'))
  const codec = 'node_modules/lossless-json'
  symlinkSync(join(toolsFolder, codec), join(folder, codec))
  return folder
}

/** Saves each code block that names a file in its first line. */
export function saveFiles(
  folder: string,
  snippets: readonly Pick<Snippet, 'text'>[],
  change = (text: string) => text,
): void {
  for (const { text } of snippets) {
    const [, name] = /^(?:\/\/|#|<!--) ([\w./-]+\.\w+)(?: -->)?\n/.exec(text) ?? []
    if (name !== undefined) writeFileSync(join(folder, name), change(text))
  }
}

export interface Place {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
}

const mark = '-- end of block --'

/** Runs code blocks in one shell, and returns their outputs. @throws {Error} if a block fails. */
export async function runInShell(blocks: readonly string[], place: Place): Promise<string[]> {
  const commands = blocks.map((text) => `${text}\necho '${mark}'`)
  const script = ["trap 'kill $(jobs -p) 2>/dev/null || true' EXIT", ...commands].join('\n')
  const shell = startInShell(script, place)
  const [status] = await shell.ended(60_000)
  const output = await shell.printed(/^/)
  assert.equal(status, 0, `${script}\nended with ${status}:\n${output}`)
  return output.split(`${mark}\n`).slice(0, -1)
}

/** Starts a shell in which `item-store` and `npx item-store` run this build. */
export function startInShell(script: string, { cwd, env = {} }: Place): OwnProcess {
  putCommand(join(cwd, 'node_modules/.bin'))
  // With NODE_TEST_CONTEXT, a test runner in a snippet would report to this file's runner.
  const { NODE_TEST_CONTEXT, ...inherited } = cleanEnvironment()
  // Offline, npx downloads no missing packages.
  const all = { ...inherited, npm_config_offline: 'true', ...env }
  const installed = script.replaceAll(/^npm install .*$/gm, '') // see `folderOf`
  return ownProcess(['bash', '-o', 'pipefail', '-ec', installed], { cwd, env: all })
}

/** Runs a code block that starts a server, on a free port and with a default for `JWT_SECRET`. */
export async function serveInShell(script: string, place: Place): Promise<Service> {
  const port = await freePort()
  const { JWT_SECRET = 'a secret of at least thirty-two bytes', ...others } = place.env ?? {}
  startInShell(script, { ...place, env: { JWT_SECRET, PORT: String(port), ...others } })
  return await healthyAt(port, JWT_SECRET)
}

/** Writes an executable `item-store` that runs this build. */
export function putCommand(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const command = `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`
  writeFileSync(join(folder, 'item-store'), command, { mode: 0o755 })
}

/** Checks that the output of each `sh` block equals the JSON or text that follows it, apart from ids and the version. */
export function assertShown(snippets: readonly Snippet[], outputs: readonly string[]): void {
  const isShown = (snippet?: Snippet) => /^(json|text)$/.test(snippet?.language ?? '')
  const followed = snippets.flatMap(({ language }, place) =>
    language === 'sh' ? [snippets[place + 1]] : [],
  )
  const printed = outputs.filter((_, place) => isShown(followed[place]))
  const shown = snippets.filter(isShown).map(({ text }) => text)
  const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
  const normal = (text: string) =>
    text
      .replaceAll(uuid, '<uuid>')
      .replaceAll(/"version":"[\d.]+"/g, '<version>')
      .trim()
  assert.deepEqual(printed.map(normal), shown.map(normal))
}

export function rowsUnder(text: string, head: string): string[] {
  const [, table = ''] = text.split(`${head}\n`)
  return table.split('\n\n', 1).flatMap((rows) => rows.trimEnd().split('\n').slice(1))
}
