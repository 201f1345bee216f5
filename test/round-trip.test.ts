/** Tests that the in-memory store returns JSON values exactly as sent. For Redis, see `test/large/redis/`. */

import { createMemoryStore } from '../src/store/memory/store.js'
import { describeRoundTrip } from './support/round-trip.js'

describeRoundTrip('in process memory', () => createMemoryStore(10_000_000))
