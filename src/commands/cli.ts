#!/usr/bin/env node

/** The `item-store` command. It loads only the modules of the subcommand that runs. @module */

import { nearest, readArguments } from '../config/flags.js'
import { codeOf, messageOf, UsageError } from '../config/usage-error.js'

type Command = (args: string[]) => Promise<string | undefined>

const commands = {
  serve: async (): Promise<Command> => (await import('./serve.js')).serve,
  dev: async (): Promise<Command> => (await import('./dev.js')).dev,
  token: async (): Promise<Command> => (await import('./secret.js')).token,
  openapi: async (): Promise<Command> => openapi,
  conformance: async (): Promise<Command> => (await import('./conformance.js')).conformance,
}
type CommandName = keyof typeof commands
const names = Object.keys(commands)
  .join(', ')
  .replace(/, (\w+)$/, ' or $1')

const [first, ...args] = process.argv.slice(2)
try {
  const output = await run(first, args)
  if (output !== undefined) print(output)
} catch (error) {
  const isStarved = codeOf(error) === 'EMFILE'
  if (!isStarved && !(error instanceof UsageError)) throw error
  const message = isStarved ? 'too many open files; raise the limit (ulimit -n)' : messageOf(error)
  process.stderr.write(`${message.replaceAll(/^(?!item-store: )/gm, 'item-store: ')}\n`)
  process.exitCode = 2
}

async function run(first: string | undefined, args: string[]): Promise<string | undefined> {
  const { version } = await import('../config/package.js') // throws on an old Node.js
  if (first === undefined) {
    throw new UsageError(`expected a command: ${names}; see item-store --help`)
  }
  if (['-v', '--version'].includes(first)) return version
  if (['-h', '--help', 'help'].includes(first)) return await help(args[0])
  const name = commandNamed(first)
  if (args.includes('-h') || args.includes('--help')) return await help(name)
  const command = await commands[name]()
  return await command(args)
}

async function openapi(args: string[]): Promise<string> {
  readArguments('openapi', args, {})
  const { version } = await import('../config/package.js')
  const { openApiDocument } = await import('../interface/openapi.js')
  return JSON.stringify(openApiDocument(version, { isSnapshot: true, isInOrder: true }), null, 2)
}

async function help(command: string | undefined): Promise<string> {
  const { helpOf, overview } = await import('./help.js')
  return command === undefined ? overview : helpOf[commandNamed(command)]
}

function commandNamed(name: string): CommandName {
  if (Object.hasOwn(commands, name)) return name as CommandName // `Object.hasOwn` has checked the name
  const meant = nearest(name, Object.keys(commands))
  const hint = meant === undefined ? `expected ${names}` : `did you mean ${meant}?`
  throw new UsageError(`unknown command ${JSON.stringify(name)}; ${hint}`)
}

function print(text: string): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    process.exitCode = 1
    if (code === 'EPIPE') return
    process.stderr.write(`item-store: cannot write to standard output: ${message}\n`)
  })
  process.stdout.write(`${text.trimEnd()}\n`)
}
