/** The script that the API page loads after its first view. @module */

import './filter-keys.js'

export { moreSamples } from './more-samples.js'
