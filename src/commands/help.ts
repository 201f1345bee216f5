/** What `--help` prints. @module */

import { describeSettings } from '../config.js'
import { readVersion } from '../version.js'

const usage = `Usage:
  item-store serve [settings]   start the service; needs JWT_SECRET in the environment
  item-store dev [settings]     start it with a secret of its own; print a token and examples
  item-store token --sub NAME [--expires TIME]
                                print a token signed with JWT_SECRET
  item-store openapi            print the interface as an OpenAPI document
  item-store help [COMMAND]     print this, or the help of one command; also -h, --help
  item-store --version          print the version; also -v
`

const secrets = `In the environment only, not as flags:
  JWT_SECRET            secret that tokens are signed with; at least 32 bytes recommended
  JWT_ALGORITHM         HS256, HS384 or HS512 [HS256]
`

const envFile = `A file .env in the working folder is read too; the environment wins over it.
`

/** The help of each command: nothing but what belongs to it. */
const texts = {
  serve: () => `Usage: item-store serve [settings]

Starts the service. It logs JSON lines, or lines for people in a terminal; a line for each request
at LOG_LEVEL=debug.

${settings()}
${secrets}
${envFile}`,

  dev: () => `Usage: item-store dev [settings]

Starts the service for a developer: makes up a JWT_SECRET unless there is one, prints a token and
examples to paste, and logs a line for each request.

${settings()}
${secrets}
${envFile}`,

  token: () => `Usage: item-store token --sub NAME [--expires TIME]

Prints an access token.

  --sub NAME            who the token is for
  --expires TIME        how long it is valid, such as 90s, 15m, 1h or 7d [1h]

${secrets}
${envFile}`,

  openapi: () => `Usage: item-store openapi

Prints the interface as an OpenAPI 3.1 document in JSON.
`,
}

/** The help on everything. */
export function overview(): string {
  const title = `item-store ${readVersion()}: a JSON HTTP API that keeps free-form items in memory`
  return [title, '', usage, settings(), secrets, envFile].join('\n')
}

/** The help on one command. */
export function commandHelp(command: keyof typeof texts): string {
  return texts[command]()
}

function settings(): string {
  return `Settings of serve and dev, as a flag or in the environment [default]:
${describeSettings()}

Sizes may have a unit (16MB, 512MiB), and times too (500ms, 90s, 15m); a size without one is in
bytes, and a time without one is in the unit that its default is shown in.
`
}
