/** A secret that is kept in a file, so that tokens outlive a restart. @module */

import { randomBytes } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { UsageError } from '../usage-error.js'

/** The permissions of everybody but the owner, among the bits of a file's mode. */
const bitsOfOthers = 0o077

/** A random secret of 32 bytes. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/**
 * Reads a secret: the text of the file without the line break at its end. A missing file is made, with
 * a random secret, and only its owner can read it.
 * @throws {UsageError} if the file cannot be made or read, has nothing but white
 * space, or is open to others.
 */
export function readSecretFile(file: string): string {
  try {
    writeFileSync(file, `${newSecret()}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const { code, message }: NodeJS.ErrnoException = Object(error)
    if (code !== 'EEXIST') throw unusable(file, `cannot be made: ${message}`)
  }
  const secret = readOwnFile(file).replace(/\r?\n$/, '')
  if (secret.trim() === '')
    throw unusable(file, 'is empty; remove it to have it made with a random secret')
  // A NUL would end the environment variable, and bytes that are not UTF-8 have become U+FFFD.
  if (/[\0\ufffd]/.test(secret)) throw unusable(file, 'is not text in UTF-8')
  return secret
}

function readOwnFile(file: string): string {
  try {
    const { mode } = statSync(file)
    // On Windows, the mode does not tell who may read.
    if (process.platform !== 'win32' && (mode & bitsOfOthers) !== 0) {
      const shown = (mode & 0o777).toString(8)
      throw unusable(file, `is open to others (mode ${shown}); close it with: chmod 600 ${file}`)
    }
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    const { message }: NodeJS.ErrnoException = Object(error)
    throw unusable(file, `cannot be read: ${message}`)
  }
}

function unusable(file: string, problem: string): UsageError {
  return new UsageError(`the secret file ${file} ${problem}`)
}
