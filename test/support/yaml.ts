/** Parses YAML. */

import { requireTool } from './tools.js'

interface Yaml {
  parse(text: string): unknown
  parseAllDocuments(text: string): { toJS(): unknown; errors: Error[] }[]
}
const yaml: Yaml = requireTool('yaml')

/** Parses a text with a single YAML document, which the caller knows to be a `T`. @throws {Error} if it is invalid. */
export function parseYaml<T>(text: string): T {
  return yaml.parse(text) as T // the caller knows the type
}

/** Parses all YAML documents in a text, which the caller knows to be a list of `T`. @throws {Error} if one is invalid. */
export function parseYamlDocuments<T>(text: string): T[] {
  return yaml.parseAllDocuments(text).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0]
    return document.toJS() as T // the caller knows the type
  })
}
