/**
 * `npm run release -- minor`: checks, raises the version, dates the list of changes, packs the tarball,
 * lists what it depends on, commits and tags; CONTRIBUTING.md describes it. `--dry-run` changes nothing.
 * If a step fails, everything is as before.
 */

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './ready.mjs'

const increments = ['major', 'minor', 'patch']
/** The files that a release changes. */
const changed = ['package.json', 'package-lock.json', 'CHANGELOG.md']
/** Where the tarball and the SBOM, the list of what it depends on, are put; git ignores it. */
const folder = 'release'

class ReleaseError extends Error {}

try {
  release(readArguments())
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error
  process.stderr.write(`npm run release: ${error.message}\n`)
  process.exitCode = 1
}

function readArguments() {
  const usage = `expected ${increments.join(', ')}: npm run release -- minor [--dry-run]`
  try {
    const { values, positionals } = parseArgs({
      options: { 'dry-run': { type: 'boolean', default: false } },
      allowPositionals: true,
    })
    const [increment, ...rest] = positionals
    if (increments.includes(increment) && rest.length === 0) {
      return { increment, isDryRun: values['dry-run'] }
    }
  } catch (error) {
    throw new ReleaseError(`${error.message}; ${usage}`)
  }
  throw new ReleaseError(usage)
}

function release({ increment, isDryRun }) {
  const version = nextVersion(increment)
  const tag = `v${version}`
  const { changes, changelog } = datedChangelog(version)
  checkRepository(tag)
  run('bash', ['.ci/run'], 2)
  if (isDryRun) {
    say(
      `All checks have passed. Version ${version} would be released with these changes:\n${changes}`,
    )
    return
  }

  const head = run('git', ['rev-parse', 'HEAD']).trim()
  const tarball = join(folder, `item-store-${version}.tgz`)
  const sbom = join(folder, `item-store-${version}.cdx.json`)
  try {
    run('npm', ['version', version, '--no-git-tag-version'])
    writeFileSync(join(root, 'CHANGELOG.md'), changelog)
    rmSync(join(root, folder), { recursive: true, force: true })
    mkdirSync(join(root, folder))
    run('npm', ['pack', '--pack-destination', folder])
    writeFileSync(join(root, sbom), dependencies())
    run('git', ['commit', '--quiet', '-m', `Release ${version}`, '--', ...changed])
    run('git', ['tag', '-a', tag, '-m', `Item Store ${version}`])
  } catch (error) {
    run('git', ['reset', '--quiet', '--soft', head])
    run('git', ['checkout', '--quiet', head, '--', ...changed])
    rmSync(join(root, folder), { recursive: true, force: true })
    throw error
  }
  say(`Version ${version} is committed and tagged. What is left to do:

  git push origin main ${tag}
  npm publish ${tarball}

${sbom} lists what the package depends on; offer it along with the tarball.`)
}

/** What is installed together with the package: a CycloneDX document. */
function dependencies() {
  const document = JSON.parse(run('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev']))
  document.metadata.component.name = 'item-store' // npm takes the name of the folder
  return `${JSON.stringify(document, null, 2)}\n`
}

/** Throws unless this is the main branch, nothing is uncommitted, and the tag is free. */
function checkRepository(tag) {
  const branch = run('git', ['branch', '--show-current']).trim()
  if (branch !== 'main') throw new ReleaseError(`the branch is ${branch || 'none'}; expected main`)
  const uncommitted = run('git', ['status', '--porcelain']).trimEnd()
  if (uncommitted !== '') {
    throw new ReleaseError(`the working tree is not clean; commit or remove:\n${uncommitted}`)
  }
  if (run('git', ['tag', '--list', tag]) !== '') throw new ReleaseError(`${tag} is tagged already`)
}

function nextVersion(increment) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const [major, minor, patch] = version.split('.').map(Number)
  switch (increment) {
    case 'major':
      return `${major + 1}.0.0`
    case 'minor':
      return `${major}.${minor + 1}.0`
    default:
      return `${major}.${minor}.${patch + 1}`
  }
}

/** The changes under "Unreleased", and the whole list with them under their version and date. */
function datedChangelog(version) {
  const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const heading = '## Unreleased\n'
  const start = text.indexOf(heading)
  const [before, after] = [text.slice(0, start), text.slice(start + heading.length)]
  const [changes] = after.split(/^## /m, 1)
  if (start === -1 || changes.trim() === '') {
    throw new ReleaseError('CHANGELOG.md lists no changes under "## Unreleased"')
  }
  const date = new Date().toISOString().slice(0, 10)
  return { changes, changelog: `${before}${heading}\n## ${version} (${date})\n${after}` }
}

/** Runs a command to its end, and returns its output, unless that is to go somewhere else. */
function run(command, args, output = 'pipe') {
  const options = { cwd: root, stdio: ['ignore', output, 2], encoding: 'utf8' }
  const { status, error, stdout } = spawnSync(command, args, options)
  if (error || status !== 0) {
    const reason = error?.message ?? `exit code ${status}`
    throw new ReleaseError(`${command} ${args.join(' ')} failed: ${reason}`)
  }
  return stdout
}

function say(text) {
  process.stdout.write(`${text}\n`)
}
