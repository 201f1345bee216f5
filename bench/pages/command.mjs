/** The benchmark of the pages: their sizes, their first paint, and the items page with many items. */

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from '../../scripts/ready.mjs'
import { commandLine, describeMachine } from '../lib/machine.mjs'
import { integer, readOptions } from '../lib/options.mjs'
import { scratch, start } from '../lib/processes.mjs'
import { table, writeSection } from '../lib/results.mjs'
import { median } from '../lib/statistics.mjs'

const help = `Usage: npm run bench:pages -- [options]

  --items N     items that the items page shows [100000]
  --paints N    how often each page is opened for its first paint [15]
  --no-write    only print; leave bench/RESULTS.md as it is
`
const options = readOptions(
  {
    items: { type: 'string', default: '100000' },
    paints: { type: 'string', default: '15' },
    'no-write': { type: 'boolean' },
  },
  help,
)
const count = integer('items', options.items)
const paints = integer('paints', options.paints)
const scrollSeconds = 10

const machine = describeMachine('server and browser on all cores')
const { chromium } = createRequire(join(root, 'tools/package.json'))('playwright-core')
const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
const service = await startService()
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
let report
try {
  report = await measure()
} finally {
  await browser.close()
  service.child.kill()
}
process.stdout.write(`${report}\n`)
if (!options['no-write']) writeSection('Pages', report)

async function measure() {
  const empty = `${service.origin}/assets/` // an origin is opened once before it counts
  await firstPaint(empty).catch(() => undefined)
  const paintRows = []
  for (const [name, path] of [
    ['API page', '/docs'],
    ['items page', '/'],
  ]) {
    const times = []
    for (let number = 0; number < paints; number += 1)
      times.push(await firstPaint(service.origin + path))
    paintRows.push([name, ms(Math.min(...times)), ms(median(times)), ms(Math.max(...times))])
  }
  const { loading, searching, scrolls } = await useItems()
  return `
${[...machine, `Browser: Chromium ${browser.version()}, without a screen`, `Command: \`${commandLine('bench:pages')}\``].map((line) => `- ${line}`).join('\n')}

${table(
  ['compressed with Brotli, kB', 'at first', 'later'],
  ['docs', 'items'].map((page) => sizesOf(page)),
)}

All files of both pages together: ${kB(sizeOf(filesOfPages()))} kB.

${table(['first contentful paint, ms', 'fastest', `median of ${paints}`, 'slowest'], paintRows)}

Each with an empty cache, in a new context of a browser that runs.

${table(
  [`items page with ${count} items`, 'value'],
  [
    [
      `list of ${(service.bytes / 1e6).toFixed(1)} MB complete, from the start of the page`,
      `${loading.complete} ms`,
    ],
    ['first rows, from the start of the page', `${loading.rows} ms`],
    ['longest task of the page meanwhile', `${loading.longest} ms`],
    ['search for a text in one item: until it is shown', `${searching.time} ms`],
    ['longest task of the page meanwhile', `${searching.longest} ms`],
  ],
)}

${table(
  [`${scrollSeconds} s of scrolling`, 'frames', 'median', '99 %', 'longest', 'over 20 ms', 'CPU'],
  scrolls,
)}

Times between frames in milliseconds; at 60 frames a second they are 16.7. CPU is the time that the page's own
thread computes for a frame, in milliseconds.
`
}

/** The service for development, with many items. */
async function startService() {
  const seed = join(scratch, 'items.jsonl')
  const lines = Array.from({ length: count }, (_, number) =>
    JSON.stringify({
      project_id: `project-${number % 7}`,
      title: `Item number ${number}`,
      price: number / 8,
      tags: ['one', 'two', 'three'],
      owner: { name: `owner ${number % 100}`, since: 2000 + (number % 26) },
      note: 'The quick brown fox jumps over the lazy dog.',
      done: number % 2 === 0,
    }),
  )
  writeFileSync(seed, lines.join('\n'))
  const flags = ['--port', '0', '--host', '127.0.0.1', '--log-level', 'error', '--seed', seed]
  const args = [join(root, 'dist/cli.js'), 'dev', ...flags]
  const child = start({ args, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const address = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
      const found = /items page (http:\S+)\/#token=(\S+)/.exec(output)
      if (found !== null) resolve(found)
    })
    child.ended.then(() => reject(new Error(`the service did not start: ${child.errorOutput}`)))
  })
  const [, origin, token] = address
  return { child, origin, token, bytes: statSync(seed).size + count * 46 } // each with an id
}

async function firstPaint(url) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(url)
  const time = await page.evaluate(async () => {
    const paint = () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime
    while (paint() === undefined) await new Promise((resolve) => requestAnimationFrame(resolve))
    return paint()
  })
  await context.close()
  return time
}

/** Opens the items page with all items, searches and scrolls. */
async function useItems() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  await page.addInitScript(() => {
    globalThis.tasks = []
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.tasks.push(duration)
    }).observe({ type: 'longtask', buffered: true })
    const whenRows = () => {
      if (document.querySelector('td')) globalThis.rowsAt = performance.now()
      else requestAnimationFrame(whenRows)
    }
    whenRows()
  })
  const longest = () => page.evaluate(() => Math.round(Math.max(0, ...globalThis.tasks.splice(0))))
  await page.goto(`${service.origin}/#token=${service.token}`)
  await page.waitForFunction(
    (all) => document.querySelector('.status')?.textContent.startsWith(all),
    `${new Intl.NumberFormat('en').format(count)} items`,
    { polling: 'raf', timeout: 120_000 },
  )
  const complete = await page.evaluate(() => Math.round(performance.now()))
  const rows = await page.evaluate(() => Math.round(globalThis.rowsAt))
  const loading = { complete, rows, longest: await longest() }

  const time = await page.evaluate(
    async (last) => {
      const field = document.querySelector('[type=search]')
      const start = performance.now()
      field.value = last
      field.dispatchEvent(new Event('input', { bubbles: true }))
      while (!document.querySelector('.status')?.textContent.startsWith('1 of')) {
        await new Promise((resolve) => requestAnimationFrame(resolve))
      }
      const time = Math.round(performance.now() - start)
      field.value = ''
      field.dispatchEvent(new Event('input', { bubbles: true }))
      return time
    },
    `"Item number ${count - 1}"`,
  )
  const searching = { time, longest: await longest() }

  const session = await context.newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const cpuTime = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration').value * 1000
  }

  const scrolls = []
  for (const [name, view, step] of [
    ['table, a row a frame', 'Table', 36],
    ['table, half a window a frame', 'Table', 400],
    ['JSON, half a window a frame', 'JSON', 400],
  ]) {
    await page.getByLabel(view, { exact: true }).check()
    const before = await cpuTime()
    const frames = await scroll(page, step)
    const cpu = (await cpuTime()) - before
    const sorted = frames.toSorted((one, other) => one - other)
    const late = frames.filter((time) => time > 20).length
    scrolls.push([
      name,
      String(frames.length),
      median(frames).toFixed(1),
      sorted[Math.floor(sorted.length * 0.99)].toFixed(1),
      Math.max(...frames).toFixed(1),
      `${late} (${((100 * late) / frames.length).toFixed(1)} %)`,
      (cpu / frames.length).toFixed(1),
    ])
  }
  await context.close()
  return { loading, searching, scrolls }
}

/** @returns the times between frames, in milliseconds. */
async function scroll(page, step) {
  return await page.evaluate(
    async ([step, seconds]) => {
      const grid = document.querySelector('[role=grid]')
      grid.scrollTop = 0
      const next = () => new Promise((resolve) => requestAnimationFrame(resolve))
      await next()
      const frames = []
      const start = await next()
      for (let last = start; last - start < seconds * 1000; ) {
        grid.scrollTop += step
        const now = await next()
        frames.push(now - last)
        last = now
      }
      return frames
    },
    [step, scrollSeconds],
  )
}

function filesOfPages() {
  const folder = join(root, 'dist/pages')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.br'))
    .map((file) => join(folder, file))
}

function sizeOf(files) {
  return files.reduce((sum, file) => sum + statSync(file).size, 0)
}

/** What a page loads with its document, and the rest that it may load. */
function sizesOf(page) {
  const folder = join(root, 'dist/pages')
  const reached = new Set([`${page}/index.html`])
  const lazy = new Set()
  for (const file of reached) {
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [whole, name] of text.matchAll(
      /(?:import\(\s*["'`]\.?\/?)?(?:assets\/|\.\/)?([\w.-]+\.(?:js|css|svg))["'`]/g,
    )) {
      const path = `assets/${name}`
      if (!filesOfPages().includes(join(folder, `${path}.br`))) continue
      ;(whole.startsWith('import(') ? lazy : reached).add(path)
    }
  }
  const sizes = (files) => kB(sizeOf(files.map((file) => join(folder, `${file}.br`))))
  const later = [...lazy].filter((file) => !reached.has(file))
  return [page === 'docs' ? 'API page' : 'items page', sizes([...reached]), sizes(later)]
}

function kB(bytes) {
  return (bytes / 1000).toFixed(1)
}

function ms(number) {
  return number.toFixed(0)
}
