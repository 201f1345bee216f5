/** The fenced blocks of a Markdown file, and a shell that runs them. */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type OwnProcess, ownProcess } from './own-process.js'
import { cli } from './own-service.js'
import { cleanEnvironment } from './tarball.js'
import { root } from './tools.js'

/** A fenced block. */
export interface Snippet {
  /** What follows the fence: `sh`, `json`, or nothing. */
  readonly language: string
  readonly text: string
  /** The file and the line of the fence, for messages. */
  readonly place: string
}

/** In a list, a block is indented. */
const block = /^( *)```([^\n]*)\n(.*?)^\1```$/gms

/**
 * All blocks of a document, in order.
 * @param file relative to the root of the repository.
 * @throws {AssertionError} if it has none.
 */
export function snippetsOf(file: string): Snippet[] {
  const document = readFileSync(join(root, file), 'utf8')
  const snippets = [...document.matchAll(block)].map(
    ({ index, 1: indent = '', 2: language = '', 3: indented = '' }) => {
      const line = document.slice(0, index).split('\n').length
      const text = indented.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
      return { language, text, place: `${file}:${line}` }
    },
  )
  assert.ok(snippets.length > 0, `${file} has no snippets`)
  return snippets
}

/**
 * All blocks of a document, by language.
 * @throws {AssertionError} unless these are the languages of its blocks: every block has to be run.
 */
export function snippetsBy<L extends string>(
  file: string,
  languages: readonly L[],
): Record<L, Snippet[]> {
  const all = snippetsOf(file)
  const found = new Set(all.map(({ language }) => language))
  assert.deepEqual(found, new Set(languages), `the languages of the blocks in ${file}`)
  const entries = languages.map((name) => [name, all.filter(({ language }) => language === name)])
  return Object.fromEntries(entries) as Record<L, Snippet[]> // an entry for each language
}

/** Where blocks run. */
export interface Place {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
}

const mark = '-- end of block --'

/**
 * Runs blocks one after the other in the same shell. Background jobs end with it.
 * @param change what to replace in the blocks, a port for example.
 * @returns what each block printed.
 * @throws {AssertionError} with the output, if a command fails.
 */
export async function runInShell(
  snippets: readonly Snippet[],
  place: Place,
  change: (text: string) => string = (text) => text,
): Promise<string[]> {
  const commands = snippets.map(({ text }) => `${change(text)}\necho '${mark}'`)
  const script = ["trap 'kill $(jobs -p) 2>/dev/null || true' EXIT", ...commands].join('\n')
  const env = shellEnv(place)
  const shell = ownProcess(['bash', '-o', 'pipefail', '-ec', script], { cwd: place.cwd, env })
  const [status] = await shell.ended(60_000)
  const output = await shell.printed(/^/)
  const where = snippets.map(({ place }) => place).join(', ')
  assert.equal(status, 0, `${where} ended with ${status}:\n${output}`)
  return output.split(`${mark}\n`).slice(0, -1)
}

/** Starts a block that does not end on its own; it ends with the test. */
export function startInShell({ text }: Snippet, place: Place): OwnProcess {
  return ownProcess(['bash', '-ec', text], { cwd: place.cwd, env: shellEnv(place) })
}

/** The environment of a shell in a folder where this build is installed; npx is the real one. */
function shellEnv({ cwd, env = {} }: Place): NodeJS.ProcessEnv {
  putCommand(join(cwd, 'node_modules/.bin'))
  // A test runner in a snippet has to run tests, not report to the one that runs this file.
  const { NODE_TEST_CONTEXT, ...inherited } = cleanEnvironment()
  // Any other package would have to be fetched, so npx fails.
  return { ...inherited, npm_config_offline: 'true', ...env }
}

/** Puts `item-store`, this build, into a folder. */
export function putCommand(folder: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'item-store'), command, { mode: 0o755 })
}

const command = `#!/bin/sh
exec '${process.execPath}' '${cli}' "$@"
`

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** A text with all UUIDs replaced by the same one, as each run has different ones. */
export function withoutIds(text: string): string {
  return text.replaceAll(uuid, '<uuid>').trim()
}

/**
 * Checks that each block printed exactly what the document shows in the block after it, if that one has the
 * language `shown`.
 * @param outputs what the blocks with the language `sh` printed.
 */
export function assertShown(snippets: readonly Snippet[], outputs: string[], shown = 'json'): void {
  const commands = snippets.filter(({ language }) => language === 'sh')
  let compared = 0
  for (const [place, command] of commands.entries()) {
    const next = snippets[snippets.indexOf(command) + 1]
    if (next?.language !== shown) continue
    assert.equal(withoutIds(outputs[place] ?? ''), withoutIds(next.text), next.place)
    compared += 1
  }
  assert.equal(compared, snippets.filter(({ language }) => language === shown).length)
}

/** The rows of the table with this head. */
export function rowsUnder(text: string, head: string): string[] {
  const [, table = ''] = text.split(`${head}\n`)
  return table.split('\n\n', 1).flatMap((rows) => rows.trimEnd().split('\n').slice(1))
}
