/** Checks the Kubernetes manifests: their fields against the types in `kubernetes-types`, and the probes against a service. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { measuredService } from '../../support/own-service.js'
import { freePort } from '../../support/process.js'
import { readText, toolsFolder } from '../../support/tools.js'
import { userProject } from '../../support/user-project.js'
import { parseYaml } from '../../support/yaml.js'

interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly items?: Resource[]
}
interface Deployment {
  readonly spec: {
    readonly selector: { matchLabels: object }
    readonly template: { metadata: { labels: object }; spec: { containers: [Container] } }
  }
}
interface Container {
  readonly env: { name: string; value?: string }[]
  readonly ports: { name: string; containerPort: number }[]
  readonly [probe: `${string}Probe`]: { httpGet: { path: string; port: string } }
}
interface Service {
  readonly spec: { selector: object; ports: { targetPort: string }[] }
}

for (const file of ['deploy/kubernetes.yaml', 'deploy/valkey.yaml']) {
  test(`${file} meets the types of Kubernetes`, () => {
    const resources = parseYaml<Resource>(readText(file))
    const objects = resources.flatMap((resource) => resource.items ?? resource)
    const lines = objects.map((object, place) => {
      const group = object.apiVersion === 'v1' ? 'core/v1' : object.apiVersion
      const type = `import('kubernetes-types/${group}').${object.kind}`
      return `export const object${place}: ${type} = ${JSON.stringify(object, null, 2)}`
    })
    const errors = userProject(lines.join('\n')).compile({
      ...{ noEmit: true, module: 'esnext', moduleResolution: 'bundler', types: [] },
      paths: { 'kubernetes-types/*': [join(toolsFolder, 'node_modules/kubernetes-types/*')] },
    })
    assert.equal(errors, '')
  })
}

const [deployment, , service] = parseYaml<Deployment & Service>(readText('deploy/kubernetes.yaml'))
assert.ok(deployment && service)
const { metadata, spec } = deployment.spec.template
const [container] = spec.containers

test('with DOCS=off, a pod is live and ready, even while its store cannot be reached', async () => {
  const STORE_URL = `redis://127.0.0.1:${await freePort()}` // no server listens there
  for (const store of [{}, { STORE_URL }]) {
    const { metricsUrl } = await measuredService({ DOCS: 'off', ...store })
    for (const probe of ['readiness', 'liveness'] as const) {
      const { path, port } = container[`${probe}Probe`]?.httpGet ?? assert.fail(probe)
      assert.equal(port, 'metrics')
      assert.equal((await fetch(new URL(path, metricsUrl))).status, 200, probe)
    }
  }
})

test('labels and ports of the Service match the pod', () => {
  assert.deepEqual(deployment.spec.selector.matchLabels, metadata.labels)
  assert.deepEqual(service.spec.selector, metadata.labels)
  const names = container.ports.map(({ name }) => name)
  assert.deepEqual(
    service.spec.ports.map(({ targetPort }) => targetPort),
    names,
  )
  const metricsPort = container.env.find(({ name }) => name === 'METRICS_PORT')?.value
  const numbers = container.ports.map(({ containerPort }) => containerPort)
  assert.deepEqual(numbers, [8000, Number(metricsPort)])
})
