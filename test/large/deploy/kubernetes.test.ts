/** Checks the fields of the Kubernetes manifests against the types in `kubernetes-types`. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { measuredService } from '../../support/own-service.js'
import { freePort } from '../../support/process.js'
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

interface Probe {
  readonly path: string
  readonly port: string
}
interface Container {
  readonly name: string
  readonly ports: { name: string; containerPort: number }[]
  readonly [probe: `${string}Probe`]: { httpGet: Probe }
}
interface Deployment extends Resource {
  readonly spec: { template: { spec: { containers: Container[] } } }
}

/** Each manifest, with the status that its readiness probe gets while the store cannot be reached. */
const manifests = { 'deploy/kubernetes.yaml': 503, 'deploy/replicas/kubernetes.yaml': 200 }

for (const [file, withoutStore] of Object.entries(manifests)) {
  test(`${file} meets the types of Kubernetes`, () => {
    assert.equal(errorsIn(readText(file)), '')
  })

  test(`${file}: with DOCS=off, a pod is live while its store cannot be reached, and its readiness is ${withoutStore}`, async () => {
    const resources = parseYamlDocuments<Deployment>(readText(file))
    const deployment = resources.find(({ kind }) => kind === 'Deployment')
    const [container] = deployment?.spec.template.spec.containers ?? []
    assert.ok(container !== undefined)
    const pages = { DOCS: 'off', CONSOLE: 'off' }
    const STORE_URL = `redis://127.0.0.1:${await freePort()}` // no server listens there
    for (const [env, ready] of [
      [pages, 200],
      [{ ...pages, STORE_URL }, withoutStore],
    ] as const) {
      const { metricsUrl, baseUrl } = await measuredService(env)
      const urls: Record<string, URL | string> = { http: baseUrl, metrics: metricsUrl }
      const statusOf = async (probe: `${string}Probe`): Promise<number> => {
        const asked: Probe | undefined = container[probe]?.httpGet
        return (await fetch(new URL(asked?.path ?? '', urls[asked?.port ?? '']))).status
      }
      assert.equal(await statusOf('startupProbe'), 200)
      assert.equal(await statusOf('livenessProbe'), 200)
      assert.equal(await statusOf('readinessProbe'), ready)
    }
  })

  test(`${file}: labels and ports of the Service match the pod`, () => {
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
    const ports = valuesIn(deployment, /\{ name: (.*), containerPort:/g)
    assert.deepEqual(valuesIn(service, /targetPort: (\w+)/g), ports)
    const metricsPort = valuesIn(deployment, /METRICS_PORT, value: "(.*)"/g)
    assert.deepEqual(valuesIn(deployment, /containerPort: (\d+)/g), ['8000', ...metricsPort])
  })
}
