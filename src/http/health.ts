/** The health check (spec §2.4, §4.1). @module */

import { type CurrentSigning, signingProblem } from '../auth/secret.js'
import { version } from '../config/package.js'
import type { ApiError } from '../interface/errors.js'
import type { HealthCheckResponse } from '../interface/models.js'
import type { ItemStore } from '../store/item-store.js'
import { answerJson } from './answer.js'
import type { Handler } from './exchange.js'

interface Subsystems {
  readonly store: Pick<ItemStore, 'healthy'>
  readonly signing: CurrentSigning
}

export async function healthOf({ store, signing }: Subsystems) {
  return { store: await store.healthy(), auth: signingProblem(signing) === undefined }
}

export function createHealthCheck(
  serviceName: string,
  parts: Subsystems & { readonly load: { exceededLimit(): ApiError['exceeded'] } },
): Handler {
  return async function checkHealth(exchange) {
    const health = await healthOf(parts)
    const total = Object.keys(health).length
    const failed = Object.entries(health).flatMap(([name, isHealthy]) => (isHealthy ? [] : name))
    const unhealthy = failed.length
    const overload = parts.load.exceededLimit()?.limit
    const body: HealthCheckResponse = {
      session_id: exchange.sessionId,
      status: unhealthy === 0 ? 'healthy' : 'unhealthy',
      service_name: serviceName,
      version,
      services_summary: { total, healthy: total - unhealthy, unhealthy },
      ...(unhealthy === 0 ? {} : { unhealthy_subsystems: failed }),
      ...(overload === undefined ? {} : { overload }),
    }
    answerJson(exchange, unhealthy === 0 ? 200 : 503, body)
  }
}
