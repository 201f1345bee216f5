/** Stops the timers of modules that are imported later. The service keeps the timers that it finds when loaded. */

import { mock } from 'node:test'

mock.timers.enable({ apis: ['setTimeout'] })
