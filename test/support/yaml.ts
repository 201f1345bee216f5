/** Reads YAML. */

import { requireTool } from './tools.js'

interface Yaml {
  parse(text: string): unknown
  parseAllDocuments(text: string): { toJS(): unknown; errors: Error[] }[]
}
const yaml: Yaml = requireTool('yaml')

/** The value of the only document in a text, which the test knows to be a T. @throws {Error} */
export function parseYaml<T>(text: string): T {
  return yaml.parse(text) as T // our own files, or the test fails
}

/** The values of all documents in a text. @throws {Error} */
export function parseYamlDocuments<T>(text: string): T[] {
  return yaml.parseAllDocuments(text).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0]
    return document.toJS() as T // our own files, or the test fails
  })
}
