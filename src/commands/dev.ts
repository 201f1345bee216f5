/** Runs the command `item-store dev`. @module */

import { readFileSync } from 'node:fs'
import { environmentSigning, signToken } from '../auth/secret.js'
import { devDefaults, devFlags, readArguments } from '../config/flags.js'
import { readConfig, settingWarnings } from '../config/read-config.js'
import { flags } from '../config/settings.js'
import { codeOf, messageOf, UsageError } from '../config/usage-error.js'
import { createControlRoutes } from '../doubles/control.js'
import { createDoubles } from '../doubles/doubles.js'
import { parseDelay, parseFailures } from '../doubles/options.js'
import { parseSeed, seedEmptyStore } from '../doubles/seed.js'
import { mcpPath, pagePaths, paths, prefix } from '../interface/paths.js'
import { start } from '../process/start.js'
import { ensureSecret, loadEnvironment, logSecrets } from './secret.js'

const tokenLifetime = 24 * 3600 // in seconds; short, because printed tokens end up in logs

export async function dev(args: string[]): Promise<undefined> {
  const { values } = readArguments('dev', args, { ...flags, ...devFlags })
  const config = readConfig(values, undefined, await loadEnvironment(), devDefaults)
  const delay = typeof values.delay === 'string' ? parseDelay(values.delay) : undefined
  const failures = typeof values.failures === 'string' ? parseFailures(values.failures) : undefined
  const items = typeof values.seed === 'string' ? readSeed(values.seed) : undefined
  const secret = ensureSecret() ? 'generated' : 'configured'
  let open: (line: string) => void = () => undefined
  const opening = new Promise<string>((resolve) => {
    open = resolve
  })
  const started = await start(config, {
    signing: environmentSigning,
    isReadable: !values.json,
    opening: values.json ? opening : undefined,
    requestLogLevel: 'info',
    seed: (store) => seedEmptyStore(store, items ?? []),
    doubles: createDoubles({ delay, failures, recordBodies: true }),
    control: createControlRoutes,
  })
  // Reads stdin only now: if the service couldn't start, an open stdin would keep the process from ending.
  const stop = () => process.kill(process.pid, 'SIGTERM')
  if (values['stdin-quit']) process.stdin.on('error', stop).on('end', stop).resume()
  const { url: origin, isSeeded, log } = started
  const token = signToken('dev', tokenLifetime)
  const baseUrl = `${origin}${prefix}`
  open(`${JSON.stringify({ url: origin, base_url: baseUrl, token, secret })}\n`)
  logSecrets(log)
  for (const warning of settingWarnings(config.port)) log.warn(warning)
  if (values.json) return

  const count = items?.length === 1 ? '1 item' : `${items?.length} items`
  const seeded = isSeeded
    ? `${count} from ${values.seed}`
    : 'not stored, since the store already has items'
  const seed = items === undefined ? '' : `\n  seed       ${seeded}`
  const expiry = new Date(Date.now() + tokenLifetime * 1000).toISOString().slice(0, 16)
  const url = baseUrl + paths.items
  const agents = `  agents     ${origin}${mcpPath} (Model Context Protocol)\n`
  const itemsPage = `  items page ${origin}${pagePaths.items}#token=${token}\n`
  const apiPage = `  API page   ${origin}${pagePaths.docs}#token=${token}\n`
  process.stdout.write(`
  interface  ${baseUrl}
  token      valid for 24 hours, until ${expiry.replace('T', ' ')} UTC${seed}
  items      ${config.storeUrl === undefined ? 'lost when the service stops' : 'on the server that STORE_URL names'}
${config.console ? itemsPage : ''}${config.docs ? apiPage : ''}${config.mcp ? agents : '\n'}Paste this into another terminal:
TOKEN=${token}
curl -w '\\n' ${url} -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{"data": {"name": "first"}}'
curl -w '\\n' ${url} -H "Authorization: Bearer $TOKEN"

`)
}

function readSeed(file: string) {
  try {
    return parseSeed(readFileSync(file))
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${file}: ${error.message}`)
    if (codeOf(error) === undefined) throw error
    throw new UsageError(`the seed ${file} cannot be read: ${messageOf(error)}`)
  }
}
