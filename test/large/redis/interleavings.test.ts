/** Tests two stores on a model of a Redis server for a minute, in orders that a seed repeats. */

import { testInterleavings } from '../../support/interleavings.js'

testInterleavings(60)
