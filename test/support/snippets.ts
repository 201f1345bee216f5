/** Reads the fenced code blocks of Markdown files, and runs them in a shell. */

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from '../conformance/client.js'
import { cli, healthyAt } from './own-service.js'
import { freePort, type OwnProcess, ownProcess } from './process.js'
import { cleanEnvironment, readText } from './tools.js'

export interface Snippet {
  readonly language: string // such as `sh`; may be empty
  readonly text: string
  readonly place: string // file and line, for error messages
}

const block = /^( *)```([^\n]*)\n(.*?)^\1```$/gms

export function snippetsOf(file: string): Snippet[] {
  const document = readText(file)
  const snippets = [...document.matchAll(block)].map(
    ({ index, 1: indent = '', 2: language = '', 3: indented = '' }) => {
      const line = document.slice(0, index).split('\n').length
      const text = indented.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
      return { language, text, place: `${file}:${line}` }
    },
  )
  assert.ok(snippets.length > 0, `${file} has no code blocks`)
  return snippets
}

/** @throws {AssertionError} unless the document has code blocks in exactly these languages. */
export function snippetsBy<L extends string>(
  file: string,
  languages: readonly L[],
): Record<L, Snippet[]> {
  const all = snippetsOf(file)
  const found = new Set(all.map(({ language }) => language))
  assert.deepEqual(found, new Set(languages), `the languages of the blocks in ${file}`)
  const entries = languages.map((name) => [name, all.filter(({ language }) => language === name)])
  return Object.fromEntries(entries) as Record<L, Snippet[]> // there is an entry for each language
}

export interface Place {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
}

const mark = '-- end of block --'

/** Runs code blocks in one shell, and returns their outputs. @throws {Error} if a block fails. */
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

export function startInShell({ text }: Snippet, place: Place): OwnProcess {
  return ownProcess(['bash', '-ec', text], { cwd: place.cwd, env: shellEnv(place) })
}

/** Runs a code block that starts a server, on a free port and with a default for `JWT_SECRET`. */
export async function serveInShell(snippet: Snippet, place: Place): Promise<Service> {
  const port = await freePort()
  const { JWT_SECRET = 'a secret of at least thirty-two bytes', ...others } = place.env ?? {}
  const env = { JWT_SECRET, PORT: String(port), ...others }
  startInShell(snippet, { ...place, env })
  return await healthyAt(port, JWT_SECRET)
}

/** Installs this build where the real `npx` finds it, and returns a shell's environment variables. */
function shellEnv({ cwd, env = {} }: Place): NodeJS.ProcessEnv {
  putCommand(join(cwd, 'node_modules/.bin'))
  // With NODE_TEST_CONTEXT, a test runner in a snippet would report to this file's runner.
  const { NODE_TEST_CONTEXT, ...inherited } = cleanEnvironment()
  // Offline, npx downloads no missing packages.
  return { ...inherited, npm_config_offline: 'true', ...env }
}

/** Writes an executable `item-store` that runs this build. */
export function putCommand(folder: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'item-store'), command, { mode: 0o755 })
}

const command = `#!/bin/sh
exec '${process.execPath}' '${cli}' "$@"
`

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

export function withoutIds(text: string): string {
  return text.replaceAll(uuid, '<uuid>').trim()
}

/** Checks that the output of each `sh` block equals the next block in the language `shown`. */
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

export function rowsUnder(text: string, head: string): string[] {
  const [, table = ''] = text.split(`${head}\n`)
  return table.split('\n\n', 1).flatMap((rows) => rows.trimEnd().split('\n').slice(1))
}
