/** The health check (spec §4.1). @module */

import { type CurrentSigning, signingProblem } from '../auth/secret.js'
import { version } from '../config/package.js'
import type { ExceededLimit } from '../interface/errors.js'
import type { HealthCheckResponse } from '../interface/models.js'
import type { ItemStore } from '../store/item-store.js'
import { answerJson } from './answer.js'
import type { Handler } from './exchange.js'

/** @param exceededLimit returns the limit that the process exceeds, if any. */
export function createHealthCheck(
  serviceName: string,
  store: ItemStore,
  currentSigning: CurrentSigning,
  exceededLimit: () => ExceededLimit | undefined,
): Handler {
  return async function checkHealth(exchange) {
    const subsystems = {
      store: await store.healthy(),
      auth: signingProblem(currentSigning) === undefined,
    }
    const total = Object.keys(subsystems).length
    const unhealthy = Object.entries(subsystems).flatMap(([name, isHealthy]) =>
      isHealthy ? [] : [name],
    )
    const healthy = total - unhealthy.length
    const overload = exceededLimit()?.limit
    const body: HealthCheckResponse = {
      session_id: exchange.sessionId,
      status: healthy === total ? 'healthy' : 'unhealthy',
      service_name: serviceName,
      version,
      services_summary: { total, healthy, unhealthy: unhealthy.length },
      ...(unhealthy.length === 0 ? {} : { unhealthy_subsystems: unhealthy }),
      ...(overload === undefined ? {} : { overload }),
    }
    answerJson(exchange, healthy === total ? 200 : 503, body)
  }
}
