/** Separates errors that most operations share from the other responses of each operation. @module */

import type { Operation, Response, ResponseGroup } from './openapi.js'

export function separateErrors(all: readonly Operation[]) {
  const common: Record<string, Response> = {}
  const operations = all.map((operation): Operation => {
    const own: Record<string, Response> = {}
    const statuses: string[] = []
    for (const [status, response] of Object.entries(operation.responses)) {
      const text = JSON.stringify(response)
      const alike = all.filter(({ responses }) => JSON.stringify(responses[status]) === text)
      if (alike.length < 4) own[status] = response
      else {
        common[status] = response
        statuses.push(status)
      }
    }
    return { ...operation, responses: own, common: statuses }
  })
  const errors: ResponseGroup = { operationId: 'errors', summary: 'Errors', responses: common }
  return { operations, errors }
}
