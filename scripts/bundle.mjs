/**
 * Bundles the command and the library into `dist`, the files that are published: opening and compiling a
 * file for each module takes longer than everything else that the service does when it starts
 * (bench/CHOICES.md).
 * Packages stay outside; they are installed along with this one. The client is one file that imports
 * nothing, so that a page can load it as it is; whatever else needs the client imports that file.
 */

import { build } from 'rolldown'

const common = { external: /^[^./]/, logLevel: 'warn' }
const output = { dir: 'dist', format: 'esm', chunkFileNames: '[name].js' }

await build({ ...common, input: { client: 'src/client/client.ts' }, platform: 'neutral', output })

await build({
  ...common,
  input: { cli: 'src/cli.ts', index: 'src/index.ts' },
  platform: 'node',
  plugins: [
    {
      name: 'client',
      resolveId: (source) =>
        source.endsWith('/client/client.js') ? { id: './client.js', external: true } : undefined,
    },
  ],
  output,
})
