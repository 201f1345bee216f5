/** Reads files to import, and writes files to export. @module */

import { JsonSyntaxError, lineFeed, openBrace, type Span } from '../../../src/item/json-syntax.js'
import { positionOf } from '../../../src/item/scan.js'
import { seedObjects, withoutMark } from '../../../src/item/seed-objects.js'
import { invalidProject, isProject } from '../model/draft.js'
import type { Yield } from '../model/yield.js'

export interface Entry {
  readonly body: string
  readonly line: number // on which the item begins, from 1
}

/** Reads items from a file in the format of `dev --seed`. @throws {Error} with line and column of a syntax error. */
export async function readEntries(file: Uint8Array, yieldIfDue: Yield): Promise<Entry[]> {
  const text = withoutMark(file)
  checkEncoding(text)
  const entries: Entry[] = []
  let line = 1
  let counted = 0
  try {
    for (const object of seedObjects(text)) {
      await yieldIfDue()
      if (object === undefined) continue
      const { start, data, projectId } = object
      for (; counted < start; counted += 1) if (text[counted] === lineFeed) line += 1
      entries.push({ body: bodyOf(text, data, projectId), line })
    }
    return entries
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw new Error(`${positionOf(text, error.offset)}: ${error.message}`, { cause: error })
  }
}

function checkEncoding(text: Uint8Array): void {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(text)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error // for example, if the file is too long for a string
    throw new Error('the file is not in UTF-8', { cause: error })
  }
}

function bodyOf(text: Uint8Array, data: Span, projectId: Span | undefined): string {
  const decoder = new TextDecoder()
  const textOf = ({ start, end }: Span) => decoder.decode(text.subarray(start, end))
  const project = projectId === undefined ? 'null' : textOf(projectId)
  if (!isProject(project)) throw new JsonSyntaxError(invalidProject, projectId?.start ?? 0)
  if (text[data.start] !== openBrace) {
    throw new JsonSyntaxError('data must be an object', data.start)
  }
  return `{"project_id":${project},"data":${textOf(data)}}`
}

/** Returns a JSON array of unchanged items, made of blobs, which browsers can store on disk. */
export async function exportItems(list: AsyncIterable<readonly string[]>): Promise<Blob> {
  const parts: (Blob | string)[] = ['[']
  let separator = '\n'
  for await (const texts of list) {
    if (texts.length === 0) continue
    parts.push(new Blob([separator, texts.join(',\n')]))
    separator = ',\n'
  }
  return new Blob([...parts, '\n]\n'], { type: 'application/json' })
}
