/** The conformance tests find each defect in what §3 to §9 say. */

import { findsDefects } from './find-defects.js'

findsDefects(/^§[3-9]\b/)
