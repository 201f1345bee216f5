/** The conformance tests find each defect in what §2 says. */

import { findsDefects } from './find-defects.js'

findsDefects(/^§2\b/)
