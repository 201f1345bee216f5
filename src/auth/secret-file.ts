/**
 * The file that `JWT_SECRET_FILE` names: one secret in each line. It is read again when it changes, so that a secret
 * can be rotated without a restart.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** Maximum number of secrets: a new one, the current one and the one before. */
const maxSecrets = 3

/**
 * How often the file is read, in milliseconds. Events of the file system would miss a symbolic link that is replaced,
 * as Kubernetes does, and changes before the first of them.
 */
const interval = 500

/** The file that is followed. */
interface SecretFile {
  readonly path: string
  /** The last usable secrets; the same array until they change. */
  secrets: readonly string[]
  /** Why the file cannot be used now; `undefined` if it can. */
  problem: string | undefined
}

let file: SecretFile | undefined
let observe: (file: Readonly<SecretFile>) => void = () => undefined

/** Returns the secrets in the file, which is read again whenever it changes. */
export function secretFile(path: string): Readonly<SecretFile> {
  if (file?.path !== path) file = follow(path)
  return file
}

/** Sets what is called when the secrets in the file, or what is wrong with it, have changed. */
export function observeSecretFile(observer: typeof observe): void {
  observe = observer
}

function follow(path: string): SecretFile {
  const followed: SecretFile = { path, secrets: [], problem: undefined }
  take(followed, () => readFileSync(path))
  setInterval(async () => {
    const { secrets, problem } = followed
    const bytes = await readFile(path).catch((error: Error) => error)
    take(followed, () => {
      if (bytes instanceof Error) throw bytes
      return bytes
    })
    if (followed.secrets !== secrets || followed.problem !== problem) observe(followed)
  }, interval).unref()
  return followed
}

/** Reads the secrets in the file, or notes why it cannot be used. */
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

/** @throws {Error} that says what is wrong, without any part of the text. */
function parseSecrets(text: string): string[] {
  // Bytes that are not UTF-8 become this character, so many secrets would be the same one, easily guessed.
  if (text.includes('\ufffd')) throw new Error('it is not UTF-8, or has the character U+FFFD')
  const secrets = text.split(/\r?\n/).filter((line) => line !== '')
  if (secrets.length === 0) throw new Error('it has no secret')
  if (secrets.length > maxSecrets) {
    throw new Error(
      `it has ${secrets.length} lines with secrets; at most ${maxSecrets} are allowed`,
    )
  }
  return secrets
}
