#!/usr/bin/env node
/**
 * The `item-store` command: picks the subcommand. Each loads what it needs when it runs, so that none
 * waits for what only another needs.
 *
 * @module
 */

import { print } from './commands/print.js'
import { UsageError } from './usage-error.js'

/** Each command's file; its `run` gets the arguments after the command's name. */
const commands = {
  serve: () => import('./commands/serve.js'),
  dev: () => import('./commands/dev.js'),
  token: () => import('./commands/token.js'),
  openapi: () => import('./commands/openapi.js'),
  health: () => import('./commands/health.js'),
}
export type CommandName = keyof typeof commands

const [first, ...args] = process.argv.slice(2)
try {
  await run(first, args)
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message.replaceAll(/^/gm, 'item-store: ')}\n`)
  process.exitCode = 2
}

async function run(first: string | undefined, args: string[]): Promise<void> {
  switch (first) {
    case undefined:
      throw new UsageError(`expected a command: ${names()}; see item-store --help`)
    case '-v':
    case '--version':
      return await printVersion()
    case '-h':
    case '--help':
    case 'help':
      return await printHelp(args[0])
    default: {
      const command = commandNamed(first)
      if (args.includes('-h') || args.includes('--help')) return await printHelp(command)
      const { run } = await commands[command]()
      return await run(args)
    }
  }
}

async function printVersion(): Promise<void> {
  const { readVersion } = await import('./version.js')
  print(`${readVersion()}\n`)
}

async function printHelp(command: string | undefined): Promise<void> {
  const { commandHelp, overview } = await import('./commands/help.js')
  const help = command === undefined ? overview() : commandHelp(commandNamed(command))
  print(help)
}

function commandNamed(name: string): CommandName {
  if (Object.hasOwn(commands, name)) return name as CommandName // just checked to be a key
  throw new UsageError(`unknown command ${JSON.stringify(name)}; expected ${names()}`)
}

function names(): string {
  return Object.keys(commands)
    .join(', ')
    .replace(/, (\w+)$/, ' or $1')
}
