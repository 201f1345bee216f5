/** Parses YAML with the package `yaml`, which is installed only in the folder of the tools. */

import { requireTool } from './tools.js'

interface Yaml {
  parse(text: string): unknown
  parseAllDocuments(
    text: string,
    options: { merge: boolean },
  ): { toJS(): unknown; errors: Error[] }[]
}
const yaml: Yaml = requireTool('yaml')

/** Trusts that the result is a `T`. @throws {Error} if the YAML is invalid. */
export function parseYaml<T>(text: string): T {
  return yaml.parse(text) as T // the caller knows the type
}

export function parseYamlDocuments<T>(text: string): T[] {
  // As kubectl and Docker Compose do, allows merge keys (`<<`).
  return yaml.parseAllDocuments(text, { merge: true }).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0]
    return document.toJS() as T // the caller knows the type
  })
}
