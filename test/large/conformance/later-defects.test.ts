/** The conformance tests find each defect in what §5 to §9 say. */

import { findsDefects } from './find-defects.js'

findsDefects(/^§[5-9]\b/)
