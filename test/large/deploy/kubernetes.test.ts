/**
 * The Kubernetes manifest, held against the types that `kubernetes-types` makes from the published
 * OpenAPI document of Kubernetes: a misspelt or misplaced member is an error, as with
 * `kubectl --validate=strict`.
 */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { documentPath, paths, prefix } from '../../../src/interface/names.js'
import { root, toolsFolder } from '../../support/tools.js'
import { parseYamlDocuments } from '../../support/yaml.js'

interface Probe {
  readonly httpGet: { path: string; port: string }
}
interface Deployment {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { name: string }
  readonly spec: {
    selector: { matchLabels: Record<string, string> }
    template: {
      metadata: { labels: Record<string, string> }
      spec: {
        containers: {
          ports: { name: string; containerPort: number }[]
          env: { name: string; value?: string }[]
          startupProbe: Probe
          readinessProbe: Probe
          livenessProbe: Probe
        }[]
      }
    }
  }
}
interface Service {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { name: string }
  readonly spec: { selector: Record<string, string>; ports: { targetPort: string }[] }
}

const single = 'deploy/kubernetes.yaml'
const replicas = 'deploy/replicas/kubernetes.yaml'
const manifestOf = (file: string) => readFileSync(join(root, file), 'utf8')

/** Compiles the manifest as TypeScript, each object with the type of its `apiVersion` and `kind`. */
function compile(text: string): { status: number | null; stdout: string } {
  const objects = parseYamlDocuments<{ apiVersion: string; kind: string }>(text)
  const folder = mkdtempSync(join(tmpdir(), 'item-store-kubernetes-'))
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
    const objects = parseYamlDocuments<Deployment & Service>(manifestOf(file))
    const named = (kind: string) =>
      objects.find((object) => object.kind === kind && object.metadata.name === 'item-store')
    const [deployment, service] = [named('Deployment'), named('Service')]
    assert.ok(deployment !== undefined && service !== undefined)
    const { metadata, spec } = deployment.spec.template
    const [container] = spec.containers
    assert.ok(container !== undefined)
    assert.deepEqual(deployment.spec.selector.matchLabels, metadata.labels)
    assert.deepEqual(service.spec.selector, metadata.labels)
    const ports = container.ports.map(({ name }) => name)
    for (const { targetPort } of service.spec.ports) assert.ok(ports.includes(targetPort))
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'] as const) {
      assert.deepEqual(container[probe].httpGet, { path: probed, port: 'http' })
    }
    const metricsPort = container.env.find(({ name }) => name === 'METRICS_PORT')?.value
    assert.deepEqual(
      container.ports.map(({ containerPort }) => String(containerPort)),
      ['8000', metricsPort],
    )
  })
}
