/** Reads the token secrets in `JWT_SECRET_FILE`, and reads them again when the file changes. @module */

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** Maximum number of token secrets: the next, the current and the previous one. */
const maxSecrets = 3

/** Interval at which the secret file is read, in ms. File system events would not report a replaced symbolic link. */
const interval = 500

interface SecretFile {
  readonly path: string
  /** The secrets from the latest read of the file. The array is replaced only if a secret has changed. */
  secrets: readonly string[]
  problem: string | undefined
}

let file: SecretFile | undefined
let observe: (file: Readonly<SecretFile>) => void = () => undefined

export function secretFile(path: string): Readonly<SecretFile> {
  if (file?.path !== path) file = watch(path)
  return file
}

export function observeSecretFile(observer: typeof observe): void {
  observe = observer
}

function watch(path: string): SecretFile {
  const followed: SecretFile = { path, secrets: [], problem: undefined }
  take(followed, () => readFileSync(path))
  let latest: string | undefined
  setInterval(async () => {
    const { secrets, problem } = followed
    const bytes = await readFile(path).catch((error: Error) => error)
    // A file that is being overwritten is empty for a moment, so a change takes effect only after two equal reads.
    const text = String(bytes)
    const isSettled = text === latest
    latest = text
    if (!isSettled) return
    take(followed, () => {
      if (bytes instanceof Error) throw bytes
      return bytes
    })
    if (followed.secrets !== secrets || followed.problem !== problem) observe(followed)
  }, interval).unref()
  return followed
}

function take(followed: SecretFile, read: () => Buffer): void {
  try {
    const secrets = parseSecrets(read().toString())
    if (secrets.join('\n') !== followed.secrets.join('\n')) followed.secrets = secrets
    followed.problem = undefined
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    followed.problem = `JWT_SECRET_FILE ${followed.path}: ${reason}`
  }
}

/** Parses the secret file. Error messages must not contain any part of the file. */
function parseSecrets(text: string): string[] {
  // Decoding replaces invalid bytes with U+FFFD, so a secret with many invalid bytes would be easy to guess.
  if (text.includes('\ufffd')) throw new Error('it is not UTF-8, or has the character U+FFFD')
  const secrets = text.split(/\r?\n/).filter((line) => line !== '')
  const { length } = secrets
  if (length === 0) throw new Error('it has no secret')
  if (length > maxSecrets) {
    throw new Error(`it has ${length} lines with secrets; at most ${maxSecrets} are allowed`)
  }
  return secrets
}
