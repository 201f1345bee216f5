/** Checks the fields of the Kubernetes manifests against the types in `kubernetes-types`. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { documentPath, paths, prefix } from '../../../src/interface/names.js'
import { readText, toolsFolder } from '../../support/tools.js'
import { userProject } from '../../support/user-project.js'
import { parseYamlDocuments } from '../../support/yaml.js'

interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly items?: Resource[]
}

function errorsIn(text: string): string {
  const resources = parseYamlDocuments<Resource>(text)
  const objects = resources.flatMap((resource) => resource.items ?? resource)
  const lines = objects.map((object, place) => {
    const group = object.apiVersion === 'v1' ? 'core/v1' : object.apiVersion
    const type = `import('kubernetes-types/${group}').${object.kind}`
    return `export const object${place}: ${type} = ${JSON.stringify(object, null, 2)}`
  })
  return userProject(lines.join('\n')).compile({
    ...{ noEmit: true, module: 'esnext', moduleResolution: 'bundler', types: [] },
    paths: { 'kubernetes-types/*': [join(toolsFolder, 'node_modules/kubernetes-types/*')] },
  })
}

const probedPaths = {
  'deploy/kubernetes.yaml': prefix + paths.health,
  'deploy/replicas/kubernetes.yaml': documentPath,
}
for (const [file, probed] of Object.entries(probedPaths)) {
  test(`${file} meets the types of Kubernetes`, () => {
    assert.equal(errorsIn(readText(file)), '')
  })

  test(`${file}: labels, paths and ports of the probes and the Service match the pod`, () => {
    const documents = readText(file).split(/^---$/m)
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
