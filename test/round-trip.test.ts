/** Any JSON value comes back as it was sent; from items in an engine too, in `redis/`. */

import { createMemoryStore } from '../src/store/memory/store.js'
import { describeRoundTrip } from './support/round-trip.js'

describeRoundTrip('in process memory', () => createMemoryStore(10_000_000))
