/** The conformance tests find each defect in what §4 to §9 say. */

import { findsDefects } from './find-defects.js'

findsDefects(/^§[4-9]\b/)
