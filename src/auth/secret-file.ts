/**
 * Reads the file that `JWT_SECRET_FILE` names, which has one secret per line. The file is read again when it changes,
 * so that an operator can rotate a secret without a restart.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** Maximum number of secrets in the file: a new one, the current one and the previous one. */
const maxSecrets = 3

/**
 * Interval between two reads of the secret file, in milliseconds. File system events would not be reliable. They miss
 * changes before the first event. They also miss the replacement of a symbolic link, by which Kubernetes updates files.
 */
const interval = 500

interface SecretFile {
  readonly path: string
  /** The secrets of the last successful read. The array stays the same object until a secret changes. */
  secrets: readonly string[]
  /** Reason why the file cannot be used at present; `undefined` if the file can be used. */
  problem: string | undefined
}

let file: SecretFile | undefined
let observe: (file: Readonly<SecretFile>) => void = () => undefined

/** Returns the secrets in a file, and starts to read the file at regular intervals. */
export function secretFile(path: string): Readonly<SecretFile> {
  if (file?.path !== path) file = watch(path)
  return file
}

/** Sets the function that is called when the secrets, or the problem with the secret file, have changed. */
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
    // A file that is being overwritten is empty for a moment, so a change is accepted only after two equal reads.
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

/** Stores the secrets that `read` returns, or the reason why the file cannot be used. */
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

/** @throws {Error} with a message that contains no part of the file. */
function parseSecrets(text: string): string[] {
  // Decoding replaces invalid bytes with U+FFFD, which would turn many different secrets into one that is easy to
  // guess.
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
