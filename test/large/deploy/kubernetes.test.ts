/**
 * The Kubernetes manifest, held against the types that `kubernetes-types` makes from the published
 * OpenAPI document of Kubernetes: a misspelt or misplaced member is an error, as with
 * `kubectl --validate=strict`.
 */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { documentPath, paths, prefix } from '../../../src/interface/names.js'
import { emptyFolder } from '../../support/tarball.js'
import { root, toolsFolder } from '../../support/tools.js'
import { parseYamlDocuments } from '../../support/yaml.js'

const single = 'deploy/kubernetes.yaml'
const replicas = 'deploy/replicas/kubernetes.yaml'
const manifestOf = (file: string) => readFileSync(join(root, file), 'utf8')

/** Compiles the manifest as TypeScript, each object with the type of its `apiVersion` and `kind`. */
function compile(text: string): { status: number | null; stdout: string } {
  const objects = parseYamlDocuments<{ apiVersion: string; kind: string }>(text)
  const folder = emptyFolder()
  const lines = objects.map((object, place) => {
    const group = object.apiVersion === 'v1' ? 'core/v1' : object.apiVersion
    const type = `import('kubernetes-types/${group}').${object.kind}`
    return `export const object${place}: ${type} = ${JSON.stringify(object, null, 2)}`
  })
  writeFileSync(join(folder, 'manifest.ts'), lines.join('\n'))
  const types = join(toolsFolder, 'node_modules/kubernetes-types/*')
  const compilerOptions = {
    ...{ strict: true, noEmit: true, module: 'esnext', moduleResolution: 'bundler', types: [] },
    paths: { 'kubernetes-types/*': [types] },
  }
  const project = { compilerOptions, files: ['manifest.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  return spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
}

for (const file of [single, replicas]) {
  test(`${file}: meets the types of Kubernetes`, () => {
    const { status, stdout } = compile(manifestOf(file))
    assert.equal(status, 0, stdout)
  })
}

for (const [file, probed] of [
  [single, prefix + paths.health],
  [replicas, documentPath],
] as const) {
  test(`${file}: the probes and the Service lead to the pod`, () => {
    const documents = manifestOf(file).split(/^---$/m)
    const textOf = (kind: string) =>
      documents.find((text) => text.includes(`\nkind: ${kind}\nmetadata:\n  name: item-store\n`))
    const valuesIn = (text: string | undefined, pattern: RegExp) =>
      Array.from(text?.matchAll(pattern) ?? [], ([, value]) => value)
    const [deployment, service] = [textOf('Deployment'), textOf('Service')]
    const labels = valuesIn(deployment, /(?:matchLabels|labels): (.*)/g)
    const selectors = valuesIn(service, /selector: (.*)/g)
    assert.deepEqual(new Set([...labels, ...selectors]), new Set(['{ app: item-store }']))
    assert.equal(selectors.length, 1)
    const probes = valuesIn(deployment, /Probe:\n(?: +#.*\n)* +httpGet: (.*)/g)
    assert.deepEqual(probes, Array(3).fill(`{ path: ${probed}, port: http }`))
    const ports = valuesIn(deployment, /\{ name: (.*), containerPort:/g)
    assert.deepEqual(valuesIn(service, /targetPort: (\w+)/g), ports)
    const metricsPort = valuesIn(deployment, /METRICS_PORT, value: "(.*)"/g)
    assert.deepEqual(valuesIn(deployment, /containerPort: (\d+)/g), ['8000', ...metricsPort])
  })
}
