import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ProjectChanges } from './project-changes.js'

test('the number of a project changes with each of its changes, however many projects there are', () => {
  const changes = fc.array(fc.oneof(fc.nat(5), fc.constant(undefined), fc.constant('all' as const)))
  fc.assert(
    fc.property(changes, fc.nat(700_000), (changes, length) => {
      const projects = new ProjectChanges()
      const names = Array.from({ length: 6 }, (_, place) => String(place).repeat(length / 6 + 1))
      let number = 0
      for (const changed of changes) {
        number += 1
        const before = names.map((name) => projects.latest(name))
        if (changed === 'all') projects.addAll(number)
        else projects.add(changed === undefined ? undefined : names[changed], number)
        for (const [place, name] of names.entries()) {
          const latest = projects.latest(name)
          assert.ok(latest <= number && latest >= (before[place] ?? 0))
          if (changed === 'all' || changed === place) assert.equal(latest, number)
          else if (length < 100) assert.equal(latest, before[place])
        }
      }
    }),
  )
})

test('10,000 projects are remembered', () => {
  const projects = new ProjectChanges()
  for (let number = 1; number <= 10_000; number += 1) projects.add(`project ${number}`, number)
  assert.deepEqual([projects.latest('project 1'), projects.latest('project 10000')], [1, 10_000])
  assert.equal(projects.latest('another'), 0)
})
