/** Tests that JSON values in process memory are read exactly as sent. The test for Redis is in `test/large/redis/`. */

import { createMemoryStore } from '../src/store/memory/store.js'
import { describeRoundTrip } from './support/round-trip.js'

describeRoundTrip('in process memory', () => createMemoryStore(10_000_000))
