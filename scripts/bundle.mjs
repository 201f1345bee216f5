/**
 * Bundles the command into `dist`, the files that are published: opening and compiling a file for each
 * module takes longer than everything else that the service does when it starts (bench/CHOICES.md).
 * Packages stay outside; they are installed along with this one.
 */

import { build } from 'rolldown'

await build({
  input: { cli: 'src/cli.ts', client: 'src/client/client.ts' },
  platform: 'node',
  external: /^[^./]/,
  output: { dir: 'dist', format: 'esm', chunkFileNames: '[name].js' },
  logLevel: 'warn',
})
