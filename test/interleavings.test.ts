/** Tests two stores on a simulated Redis server for a few seconds, in random orders that a seed can repeat. */

import { testInterleavings } from './support/interleavings.js'

testInterleavings(4)
