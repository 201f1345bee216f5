/** The models as JSON Schemas, with references where one is part of another. @module */

import { toJsonSchemaDefs } from '@valibot/to-json-schema'
import * as models from './models.js'

export function schemas(): object {
  return toJsonSchemaDefs(models, {
    target: 'draft-2020-12',
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    typeMode: 'output', // the last schema of a pipe, which is the one that names the members
    // Generated clients would otherwise know only the members that have a name here.
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      valibotSchema.type === 'loose_object'
        ? { ...jsonSchema, additionalProperties: true }
        : undefined,
  })
}
