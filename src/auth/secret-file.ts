/** Reads the token secrets in `JWT_SECRET_FILE`, and reads them again when the file changes. @module */

import { readFile } from './read-file.js'

const maxSecrets = 3 // the next, the current and the previous one
const interval = 500 // ms between reads; file system events miss a replaced symbolic link

interface SecretFile {
  readonly path: string
  readonly firstRead: Promise<void> // or when it's clear that this takes too long
  secrets: readonly string[] // from the latest read; the same array until one changes
  problem: string | undefined
}

let file: SecretFile | undefined
let observe: (file: Readonly<SecretFile>) => void = () => undefined

export function secretFile(path: string): Readonly<SecretFile> {
  if (file?.path !== path) file = follow(path)
  return file
}

export function observeSecretFile(observer: typeof observe): void {
  observe = observer
}

function follow(path: string): SecretFile {
  let latest: string | undefined
  const firstRead = new Promise<void>((resolve) => {
    read(resolve)
  })
  const followed: SecretFile = { path, firstRead, secrets: [], problem: about('not read yet') }
  return followed

  /** Reads the file over and over. Each read begins after the one before: on a lost mount, reads would pile up. */
  async function read(isDone?: () => void): Promise<void> {
    const reading = readFile(path, (late) => {
      report(late)
      isDone?.()
    })
    // `TextDecoder` drops a byte order mark, so it doesn't become part of a secret.
    const found = await reading.then(
      (bytes) => new TextDecoder().decode(bytes),
      (error: Error) => error,
    )
    // A file being overwritten is empty for a moment, so new contents are used only after two equal reads.
    if (latest === undefined || latest === String(found)) report(found)
    latest = String(found)
    isDone?.()
    if (file === followed) setTimeout(read, interval).unref()
  }

  function report(found: string | Error): void {
    const { secrets, problem } = followed
    try {
      if (found instanceof Error) throw found
      const read = parseSecrets(found)
      if (read.join('\n') !== secrets.join('\n')) followed.secrets = read
      followed.problem = undefined
    } catch (error) {
      followed.problem = about(error instanceof Error ? error.message : String(error))
    }
    if (followed.secrets !== secrets || followed.problem !== problem) observe(followed)
  }

  function about(problem: string): string {
    return `JWT_SECRET_FILE ${path}: ${problem}`
  }
}

/** Parses the secret file. Error messages must not quote the text. */
function parseSecrets(text: string): string[] {
  // Decoding turns every invalid byte into U+FFFD, and a secret with many U+FFFD is easy to guess.
  if (text.includes('\ufffd')) throw new Error('it is not UTF-8, or has the character U+FFFD')
  const secrets = text.split(/\r?\n/).filter((line) => line !== '')
  const { length } = secrets
  if (length === 0) throw new Error('it has no secret')
  if (length > maxSecrets) {
    throw new Error(`it has ${length} lines with secrets; at most ${maxSecrets} are allowed`)
  }
  return secrets
}
