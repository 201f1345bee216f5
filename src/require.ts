/**
 * Loads CommonJS packages. The first `import` of one makes Node.js load a lexer for its exports, which
 * adds 30 ms to the start (bench/CHOICES.md).
 *
 * @module
 */

import { createRequire } from 'node:module'

export const require = createRequire(import.meta.url)
