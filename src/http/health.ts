/** The health check (spec §4.1). @module */

import { authFault } from '../auth/token.js'
import type { ItemStore } from '../store/item-store.js'
import { answerJson } from './answer.js'
import type { HealthCheckResponse } from './models.js'
import type { Handlers } from './routes.js'

/**
 * Handlers of `/health`.
 * @param serviceName constant for a deployment (spec §2.4).
 * @param version semantic version of the service (spec §9.2).
 */
export function healthHandlers(store: ItemStore, serviceName: string, version: string): Handlers {
  return {
    GET: async function checkHealth(request, reply) {
      const subsystems = { store: await store.healthy(), auth: authFault() === undefined }
      const total = Object.keys(subsystems).length
      const healthy = Object.values(subsystems).filter(Boolean).length
      const body: HealthCheckResponse = {
        session_id: request.id,
        status: healthy === total ? 'healthy' : 'unhealthy',
        service_name: serviceName,
        version,
        services_summary: { total, healthy, unhealthy: total - healthy },
      }
      answerJson(reply, healthy === total ? 200 : 503, body)
    },
  }
}
