/** The texts of `--help`. @module */

import { devDefaults } from '../config/flags.js'
import { version } from '../config/package.js'
import { flagOf, nameOf, settings } from '../config/settings.js'
import { prefix } from '../interface/paths.js'

const meaningColumn = 47
const meaningLine = /\S.{0,52}(?!\S)|\S+/g // only a long word passes column 100

function inputs(defaults: Record<string, string> = {}): string {
  const settingLines = Object.entries(settings).map(([key, { defaultText, meaning }]) => {
    const name = nameOf(key)
    const flag = `--${flagOf(name)}`
    const shown = defaults[key] ?? defaultText
    const ending = shown === undefined ? '' : ` [${shown}]`
    const lines = (meaning + ending).match(meaningLine) ?? []
    const text = lines.join(`\n${' '.repeat(meaningColumn)}`)
    return `  ${flag.padEnd(23)} ${name.padEnd(20)} ${text}`
  })
  return `Settings of serve and dev, as a flag or in the environment [default]:
${settingLines.join('\n')}

Sizes and times may have a unit (16MB, 512MiB; 500ms, 90s, 15m). Without one, a size is in bytes,
and a time is in the unit of its default.

${secrets}`
}

const secrets = `From the environment only, not as flags:
  JWT_SECRET            secret that signs the tokens; at least 32 bytes recommended
  JWT_SECRET_FILE       instead of JWT_SECRET, a file with up to three secrets, one per line: the
                        first signs, and all verify; the file is read again when it changes
  JWT_ALGORITHM         HS256, HS384 or HS512 [HS256]

A file .env in the working directory is read too. The environment takes precedence, even with an
empty variable, which counts as unset.
`

export const overview = `item-store ${version}: a JSON HTTP API that keeps free-form items in memory

Usage:
  item-store serve [settings]   start the service; needs JWT_SECRET in the environment
  item-store dev [settings]     start it for development; print a token and examples
  item-store token --sub NAME [--expires TIME]
                                print a token signed with JWT_SECRET
  item-store openapi            print the interface as an OpenAPI document
  item-store conformance URL [--reporter spec|tap|junit]
                                test an implementation of the interface; needs its JWT_SECRET
  item-store help [COMMAND]     print this help, or the help of one command; also -h, --help
  item-store --version          print the version; also -v

${inputs()}`

export const helpOf = {
  serve: `Usage: item-store serve [settings]

Starts the service. It logs JSON lines, or human-readable ones in a terminal, with a line for each
request at LOG_LEVEL=debug.

${inputs()}`,

  dev: `Usage: item-store dev [--seed FILE] [--delay MS] [--failures LIST] [--json] [--stdin-quit]
                      [settings]

Starts the service for development: generates a JWT_SECRET unless one is set, prints a token and
examples to paste, and logs a line for each request. With a JWT_SECRET in the environment or in
.env, tokens outlive a restart. Listens on 127.0.0.1, and serves the items page and the tools for
agents, unless HOST, CONSOLE and MCP say otherwise.

  --seed FILE           items to start with: a JSON array of objects, or one object per line; either
                        requests ({"data": {...}, "project_id": "..."}) or the members of items
  --delay MS            wait before each operation on items, to see what a page shows while it
                        loads: 200, or 200-800 for a random time
  --failures LIST       make item requests fail with 429, 500, 503 or a cut connection: 503,cut for
                        the first two, or 503=0.1,cut=0.05 for random ones at these rates
  --json                print one line for programs first, a JSON object with url, base_url, token
                        and secret; then the log in JSON
  --stdin-quit          stop when the standard input ends

${inputs(devDefaults)}`,

  token: `Usage: item-store token --sub NAME [--expires TIME]

Prints an access token.

  --sub NAME            who the token is for
  --expires TIME        how long it is valid, such as 90s, 15m, 1h or 7d [1h]; --expires=-1s makes
                        an expired token

${secrets}`,

  openapi: `Usage: item-store openapi

Prints the interface as an OpenAPI 3.1 document in JSON, for items in process memory. With
STORE_URL, lists guarantee less; a running service has its own document at /openapi.json.
`,

  conformance: `Usage: item-store conformance URL [--reporter spec|tap|junit]

Tests whether a service, in any language, meets the interface. URL ends with ${prefix}, such as
http://localhost:8000${prefix}. Each test names its clause of the interface. The exit code is 1 if a
test fails, and 2 if nothing responds. The tests leave a few hundred items behind.

  --reporter NAME       form of the report: spec for people, tap or junit for programs [spec]

From the environment or .env:
  JWT_SECRET            secret of the service, which accepts HS256
`,
}
