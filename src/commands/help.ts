/** What `--help` prints. @module */

import { flagOf, settings } from '../config.js'
import { readVersion } from '../version.js'

const usage = `Usage:
  item-store serve [settings]   start the service; needs JWT_SECRET in the environment
  item-store dev [settings]     start it for development; print a token and examples
  item-store token --sub NAME [--expires TIME]
                                print a token signed with JWT_SECRET
  item-store openapi            print the interface as an OpenAPI document
  item-store health             check the health of a running service
  item-store help [COMMAND]     print this, or the help of one command; also -h, --help
  item-store --version          print the version; also -v
`

const secrets = `From the environment only, not as flags:
  JWT_SECRET            secret that signs the tokens; at least 32 bytes recommended
  JWT_ALGORITHM         HS256, HS384 or HS512 [HS256]
`

const envFile = `A file .env in the working directory is read too; the environment takes precedence.
`

/** The help of each command: only what belongs to it. */
const texts = {
  serve: () => `Usage: item-store serve [settings]

Starts the service. It logs JSON lines, or human-readable ones in a terminal, with a line for each
request at LOG_LEVEL=debug.

${settingsHelp()}
${secrets}
${envFile}`,

  dev: () => `Usage: item-store dev [--seed FILE] [--delay MS] [--secret-file FILE] [settings]

Starts the service for development: generates a JWT_SECRET unless one is set, prints a token and
examples to paste, and logs a line for each request.

  --seed FILE           items to start with: a JSON array of objects, or one object a line; either
                        requests ({"data": {...}, "project_id": "..."}) or the members of items
  --delay MS            time before each item is created, read or changed, and before each list,
                        to see what a page shows meanwhile: 200, or 200-800 for random times
  --secret-file FILE    take the secret from this file, so that tokens outlive a restart; a missing
                        file is made; takes precedence over JWT_SECRET

${settingsHelp()}
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

  health: () => `Usage: item-store health [--host HOST] [--port PORT] [--url URL]

Asks a running service for its health. Exit code 0 if it is healthy; otherwise 1, with a line that
says why.

  --host HOST           address that the service listens on, also HOST in the environment or .env
  --port PORT           port that it listens on, also PORT in the environment or .env [8000]
  --url URL             base URL of the service instead, such as http://localhost:8000/api/v1
`,
}

/** The help for everything. */
export function overview(): string {
  const title = `item-store ${readVersion()}: a JSON HTTP API that keeps free-form items in memory`
  return [title, '', usage, settingsHelp(), secrets, envFile].join('\n')
}

/** The help for one command. */
export function commandHelp(command: keyof typeof texts): string {
  return texts[command]()
}

function settingsHelp(): string {
  return `Settings of serve and dev, as a flag or in the environment [default]:
${describeSettings()}

Sizes and times may have a unit (16MB, 512MiB; 500ms, 90s, 15m). Without one, a size is in bytes,
and a time is in the unit of its default.
`
}

/** A line for each setting. */
export function describeSettings(): string {
  return Object.values(settings)
    .map(({ name, shownDefault, meaning }) => {
      const flag = `--${flagOf(name)}`
      const ending = shownDefault === undefined ? '' : ` [${shownDefault}]`
      return `  ${flag.padEnd(23)} ${name.padEnd(20)} ${meaning}${ending}`
    })
    .join('\n')
}
