/** What is counted on the way to the engine, on all its connections together. @module */

import type { StoreTraffic } from '../item-store.js'

interface Connection {
  readonly inFlight: number
  readonly waiting: number
}

export class Traffic implements StoreTraffic {
  reconnections = 0
  redirections = 0
  unknownOutcomes = 0
  onRoundTrip: ((seconds: number) => void) | undefined
  /** Those that are not closed. */
  readonly connections = new Set<Connection>()

  get inFlight(): number {
    return [...this.connections].reduce((sum, { inFlight }) => sum + inFlight, 0)
  }

  get waiting(): number {
    return [...this.connections].reduce((sum, { waiting }) => sum + waiting, 0)
  }
}
