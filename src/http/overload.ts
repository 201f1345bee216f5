/** Refuses work when there is too much of it. @module */

import { Session } from 'node:inspector'
import underPressure from '@fastify/under-pressure'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import { ApiError } from './errors.js'

export interface LoadLimits {
  /** Mean delay of the event loop over the last second, in milliseconds. */
  readonly maxEventLoopDelay: number
  /** Resident memory of the process, in bytes. */
  readonly maxMemoryBytes: number
}

/** How often the load is measured, in milliseconds. */
const sampleInterval = 1_000

/** How often memory is collected while there is too much in use, in milliseconds. */
const collectInterval = 5_000

/** Makes the hook that answers 503 while the load is above its limits. */
export function refuseOverload(app: FastifyInstance, limits: LoadLimits) {
  let isOverloaded = () => false
  // In a scope of its own, where there are no routes, the plugin measures; its own hook would look
  // at every request, health checks included, and answer in another shape.
  app.register(async (scope) => {
    const { maxEventLoopDelay, maxMemoryBytes: maxRssBytes } = limits
    await scope.register(underPressure, { sampleInterval, maxEventLoopDelay, maxRssBytes })
    isOverloaded = () => scope.isUnderPressure()
    // Left to itself, V8 may keep garbage for as long as little is allocated: for ever, in a service
    // that refuses its requests because of it.
    const timer = setInterval(() => {
      if (scope.memoryUsage().rssBytes > maxRssBytes) collectGarbage()
    }, collectInterval)
    timer.unref()
    scope.addHook('onClose', async () => clearInterval(timer))
  })

  return function shedLoad(
    request: FastifyRequest,
    _reply: FastifyReply,
    done: HookHandlerDoneFunction,
  ): void {
    // What makes room is let through.
    if (isOverloaded() && request.method !== 'DELETE')
      done(new ApiError('SERVICE_UNAVAILABLE', 'The service is overloaded'))
    else done()
  }
}

/** Has V8 give back all memory that it can; unlike `global.gc`, this needs no flag. */
function collectGarbage(): void {
  const session = new Session()
  session.connect()
  // Not disconnected within the callback, as the next session would then never be answered.
  session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()))
}
