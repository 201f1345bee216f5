/** The conformance tests find each defect in what §3 and §4 say. */

import { findsDefects } from './find-defects.js'

findsDefects(/^§[34]\b/)
