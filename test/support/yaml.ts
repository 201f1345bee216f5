/** Parses YAML with the package `yaml`, which is installed only in the folder of the tools. */

import { requireTool } from './tools.js'

interface Yaml {
  parseAllDocuments(
    text: string,
    options: { merge: boolean },
  ): { toJS(): unknown; errors: Error[] }[]
}
const yaml: Yaml = requireTool('yaml')

/** Returns each document of the text, and trusts that it is a `T`. @throws {Error} if the YAML is invalid. */
export function parseYaml<T>(text: string): T[] {
  // As kubectl and Docker Compose do, allows merge keys (`<<`).
  return yaml.parseAllDocuments(text, { merge: true }).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0]
    return document.toJS() as T // the caller knows the type
  })
}
