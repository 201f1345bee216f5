/** The page of settings, made from the table in the code: `npm run docs` writes docs/reference/settings.md. */

import assert from 'node:assert/strict'
import { settings } from '../../src/config/settings.js'

/** Defaults in words: those without a text in the table, or with one that is for this machine or command only. */
const dependentDefaults: Record<string, string> = {
  MAX_CONNECTIONS: '10000',
  MAX_STORE_BYTES: 'half of memory',
  MAX_MEMORY_BYTES: '9/10 of memory',
  STORE_URL: 'process memory',
  TRUSTED_PROXIES: 'none',
  METRICS_HOST: 'value of `HOST`',
  CONSOLE: 'on in `dev`, otherwise off',
  HOST: '0.0.0.0; 127.0.0.1 in `dev`',
}

type Setting = (typeof settings)[keyof typeof settings]

/** One setting as a row of a table: name, default, meaning. */
export function settingRow({ name, defaultText, meaning }: Setting): string {
  const words = dependentDefaults[name] ?? defaultText
  assert.ok(words, `${name} has no words for its default`)
  return `| \`${name}\` | ${words} | ${meaning} |`
}

export function settingsPage(): string {
  const rows = Object.values(settings).map((setting) =>
    settingRow(setting).replace(/ \|$/, ` | ${valuesOf(setting)} |`),
  )
  return `# Settings

<!-- Written by \`npm run docs\` from the table in src/config/settings.ts; changes here get lost. -->

Each setting of \`item-store serve\` and \`item-store dev\` is an environment variable or a flag: \`PORT\` or
\`--port\`, \`MAX_BODY_BYTES\` or \`--max-body-bytes\`. A flag takes precedence over the environment, and the
environment over a file \`.env\` in the working directory. An empty variable counts as unset.

Sizes and times may have a unit (\`16MB\`, \`512MiB\`, \`64k\`; \`500ms\`, \`90s\`, \`15m\`, \`1h\`). Without one, a
size is in bytes, and a time is in the unit of its default. An invalid value, a malformed line in \`.env\`,
or a memory limit that even an idle process exceeds is reported in one line, and the service does not
start (exit code 2).

| variable | default | meaning | value |
|---|---|---|---|
${rows.join('\n')}

Limits that are not settings, such as the number of header lines, are listed in
[interface.md](interface.md#8-limits).

## The secret

These variables are read whenever a token is verified. They have no flags:

| variable | default | meaning |
|---|---|---|
| \`JWT_SECRET\` | none; \`dev\` generates one for its run | Secret that signs the tokens, at least 32 bytes recommended |
| \`JWT_SECRET_FILE\` | none | Instead of \`JWT_SECRET\`, a file with a secret in each line: the first one signs, and up to three verify. It is read again when it changes ([how to rotate a secret](../how-to/deploy.md#rotate-the-secret)) |
| \`JWT_ALGORITHM\` | HS256 | Algorithm of the tokens: HS256, HS384 or HS512 |
`
}

/** The values that a setting takes, in the words of the error for others. */
function valuesOf({ parse }: Setting): string {
  try {
    parse('')
  } catch (error) {
    // Units are explained above the table.
    if (error instanceof Error)
      return error.message.replace(/, (?:in bytes or )?with a unit .*/, '')
  }
  throw new Error('a setting that takes an empty text')
}
