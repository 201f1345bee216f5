/**
 * Loads packages that are CommonJS. The first `import` of one has Node.js load a lexer for its exports,
 * which takes 30 ms of the start (bench/CHOICES.md).
 *
 * @module
 */

import { createRequire } from 'node:module'

export const require = createRequire(import.meta.url)
