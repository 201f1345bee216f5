/** Measures in Chromium how soon both pages first paint, and how fast the items page shows many items. */

import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requireTool, root, v8Flags } from '../test/support/tools.js'
import { newAccess, newToken } from './lib/access.js'
import { buildRevision } from './lib/builds.js'
import { describeMachine } from './lib/machine.js'
import { readOptions } from './lib/options.js'
import { type Child, kill, scratch, startServer } from './lib/processes.js'
import { count, print, report, table } from './lib/results.js'
import { median, quantile } from './lib/statistics.js'

interface Playwright {
  chromium: { launch(options: object): Promise<Browser> }
}

interface Browser {
  newPage(options?: object): Promise<Page>
  version(): string
  close(): Promise<void>
}

interface Page {
  goto(url: string): Promise<unknown>
  addInitScript(script: () => void): Promise<unknown>
  evaluate<T>(run: () => T | Promise<T>): Promise<T>
  waitForFunction<A>(run: (argument: A) => unknown, argument: A, options: object): Promise<unknown>
  close(): Promise<void>
}

const help = `Usage: npm run bench -- pages [options]   (needs Chromium)

  --against REV     also measure the pages at this git revision, built for this run
`
const { against } = readOptions(help, { against: { type: 'string' } })
const items = 100_000 // number of items on the items page
const paints = 20 // number of first paints of each page
const rounds = 3 // how often the items page is opened and used

interface Side {
  name: string
  origin: string
  token: string
  child: Child
  apiPage: Visit[]
  itemsPage: Visit[]
  uses: Awaited<ReturnType<typeof useItems>>[]
}

type Visit = Awaited<ReturnType<typeof visit>>

const facts = describeMachine('server and browser on all cores')
const { chromium }: Playwright = requireTool('playwright-core')
const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
const seed = join(scratch, 'items.jsonl')
writeFileSync(seed, Array.from({ length: items }, (_, number) => itemText(number)).join('\n'))
const listBytes = statSync(seed).size + items * 46 // in the list, each item also has an id
const sides = [await startSide('this', root)]
if (against !== undefined) {
  const { commit, folder } = buildRevision(against)
  sides.push(await startSide(commit, folder))
}
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  for (let number = 0; number <= paints; number += 1) {
    print(`first paint ${number} of ${paints}`)
    for (const side of inTurn(number)) {
      side.apiPage.push(await visit(`${side.origin}/docs`))
      side.itemsPage.push(await visit(`${side.origin}/`))
    }
  }
  for (let round = 1; round <= rounds; round += 1) {
    print(`round ${round} of ${rounds}`)
    for (const side of inTurn(round)) side.uses.push(await useItems(side))
  }
} finally {
  await browser.close()
  await kill(...sides.map(({ child }) => child))
}

report(
  'Pages',
  [...facts, `Browser: headless Chromium ${browser.version()}`],
  [
    table(
      ['', 'first paint, ms: fastest', 'quarter', 'half', 'three quarters', 'loaded, kB'],
      sides.flatMap(({ name, apiPage, itemsPage }) => [
        paintRow(`API page, ${name}`, apiPage),
        paintRow(`items page, ${name}`, itemsPage),
      ]),
    ),
    `First contentful paint of ${paints} loads, each with an empty cache in a new context of a running browser. ` +
      'Loaded: Brotli size of the files requested before the first paint.',
    table(
      [
        `${count(items)} items, ms`,
        'first rows',
        'list complete',
        'longest task until then',
        'longest task when all are selected',
      ],
      sides.map(useRow),
    ),
    `Medians of ${rounds} times, from the start of the page; a list has ${(listBytes / 1e6).toFixed(1)} MB. ` +
      'A task of less than 50 ms counts as 0.',
  ],
)

/** Returns the sides, every other time in reverse, so that none always goes first. */
function inTurn(number: number) {
  return number % 2 === 0 ? sides : sides.toReversed()
}

async function startSide(name: string, folder: string): Promise<Side> {
  const { port, secret } = await newAccess()
  const flags = ['--port', String(port), '--log-level', 'error', '--seed', seed]
  const args = [...v8Flags, join(folder, 'dist/cli.js'), 'dev', ...flags]
  const child = await startServer({ port, args, env: { JWT_SECRET: secret }, core: undefined })
  const origin = `http://127.0.0.1:${port}`
  return { name, origin, token: newToken(secret), child, apiPage: [], itemsPage: [], uses: [] }
}

function itemText(number: number) {
  return JSON.stringify({
    project_id: `project-${number % 7}`,
    title: `Item number ${number}`,
    price: number / 8,
    tags: ['one', 'two', 'three'],
    owner: { name: `owner ${number % 100}`, since: 2000 + (number % 26) },
    note: 'The quick brown fox jumps over the lazy dog.',
    done: number % 2 === 0,
  })
}

async function visit(url: string) {
  const page = await browser.newPage()
  await page.goto(url)
  const measured = await page.evaluate(async () => {
    let painted: number | undefined
    while (painted === undefined) {
      await new Promise(requestAnimationFrame)
      painted = performance.getEntriesByName('first-contentful-paint')[0]?.startTime
    }
    let bytes = 0
    for (const entry of performance.getEntries()) {
      if (!(entry instanceof PerformanceResourceTiming)) continue
      if (entry.startTime < painted && !entry.name.endsWith('.json')) bytes += entry.encodedBodySize
    }
    return { painted, bytes }
  })
  await page.close()
  return measured
}

async function useItems({ origin, token }: Side) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.addInitScript(() => {
    const markRows = () => {
      if (document.querySelector('td')) performance.mark('rows')
      else requestAnimationFrame(markRows)
    }
    markRows()
    const keep = (list: PerformanceObserverEntryList) => {
      for (const { duration } of list.getEntries()) performance.mark('task', { detail: duration })
    }
    new PerformanceObserver(keep).observe({ type: 'longtask', buffered: true })
  })
  await page.goto(`${origin}/#token=${token}`)
  await statusShows(page, `${count(items)} items`)
  const { complete, rows } = await page.evaluate(() => ({
    complete: performance.now(),
    rows: performance.getEntriesByName('rows')[0]?.startTime ?? Number.NaN,
  }))
  const task = await longestTask(page)
  await page.evaluate(() => {
    document.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', ctrlKey: true }))
  })
  await statusShows(page, `${count(items)} items selected`)
  const selecting = await longestTask(page)
  await page.close()
  return { rows, complete, task, selecting }
}

async function statusShows(page: Page, start: string) {
  await page.waitForFunction(
    (text) =>
      [...document.querySelectorAll('[role=status]')].some(({ textContent }) =>
        textContent?.startsWith(text),
      ),
    start,
    { polling: 'raf', timeout: 120_000 },
  )
}

/** Returns the duration of the longest task since the last call, in ms. Browsers do not report tasks under 50 ms. */
async function longestTask(page: Page) {
  return await page.evaluate(async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_000)) // browsers report long tasks only after a delay
    const tasks = performance.getEntriesByName('task')
    performance.clearMarks('task')
    return Math.max(0, ...tasks.map((each) => (each instanceof PerformanceMark ? each.detail : 0)))
  })
}

function paintRow(title: string, visits: Visit[]) {
  const times = visits.slice(1).map(({ painted }) => painted) // the first visit is a warm-up
  const shown = [0, 0.25, 0.5, 0.75].map((share) => quantile(times, share).toFixed(0))
  // If the first paint is late, the size includes preloaded files. So this takes the smallest one.
  const bytes = Math.min(...visits.map((each) => each.bytes))
  return [title, ...shown, (bytes / 1000).toFixed(1)]
}

function useRow({ name, uses }: Side) {
  const of = (key: keyof (typeof uses)[number]) => median(uses.map((use) => use[key])).toFixed(0)
  return [name, of('rows'), of('complete'), of('task'), of('selecting')]
}
