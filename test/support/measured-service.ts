/** Starts services with metrics, and reads their metrics. */

import type { Command } from './own-process.js'
import { ownService } from './own-service.js'
import { freePort } from './process.js'

export async function measuredService(env: NodeJS.ProcessEnv = {}, command?: Command) {
  const port = await freePort()
  const own = await ownService({ ...env, METRICS_PORT: String(port) }, command)
  const metricsUrl = `http://127.0.0.1:${port}/metrics`
  const metrics = async () => await (await fetch(metricsUrl)).text()
  return {
    ...own,
    metricsUrl,
    metrics,
    async waitingReads(): Promise<number> {
      return Number(
        /^item_store_limit_value\{limit="waiting reads"\} (\d+)$/m.exec(await metrics())?.[1],
      )
    },
  }
}
