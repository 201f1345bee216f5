/** The conformance tests find each defect in what §1 says. */

import { findsDefects } from './find-defects.js'

findsDefects(/^§1\b/)
