/** Measures the first paint of the pages, and the items page with many items, in Chromium. */

import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requireTool, root } from '../test/support/tools.js'
import { buildRevision } from './lib/builds.js'
import { describeMachine } from './lib/machine.js'
import { readOptions } from './lib/options.js'
import { scratch, start, stop } from './lib/processes.js'
import { count, print, report, table } from './lib/results.js'
import { median, quantile } from './lib/statistics.js'

interface Playwright {
  chromium: { launch(options: object): Promise<Browser> }
}

interface Browser {
  newContext(options?: object): Promise<Context>
  version(): string
  close(): Promise<void>
}

interface Context {
  newPage(): Promise<Page>
  close(): Promise<void>
}

interface Page {
  goto(url: string): Promise<unknown>
  addInitScript(script: () => void): Promise<unknown>
  evaluate<T, A>(run: (argument: A) => T | Promise<T>, argument?: A): Promise<T>
  waitForFunction<A>(run: (argument: A) => unknown, argument: A, options: object): Promise<unknown>
}

const help = `Usage: npm run bench -- pages [options]   (needs Chromium)

  --against REV     also measure the pages at this git revision, built for this run
`
const options = readOptions(help, { against: { type: 'string' } })
const items = 100_000 // number of items on the items page
const paints = 20 // number of first paints of each page
const rounds = 3 // how often the items page is opened and used
const scrollSeconds = 3
const startDeadline = 60_000 // milliseconds
const step = 400 // pixels that the table scrolls in each frame

type Service = Awaited<ReturnType<typeof startService>>

interface Side {
  name: string
  service: Service
  paints: Record<string, { times: number[]; bytes: number }>
  loads: { rows: number; complete: number; task: number; selecting: number }[]
  frames: number[]
}

const facts = describeMachine('server and browser on all cores')
const { chromium }: Playwright = requireTool('playwright-core')
const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
const sides = [await startSide('this', root)]
if (options.against !== undefined) {
  const { commit, folder } = buildRevision(options.against)
  sides.push(await startSide(commit, folder))
}
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  // The first visit to each page is only a warm-up.
  for (let number = 0; number <= paints; number += 1) {
    print(`first paint ${number} of ${paints}`)
    for (const side of inTurn(number)) {
      await openPage(side, 'API page', '/docs', number > 0)
      await openPage(side, 'items page', '/', number > 0)
    }
  }
  for (let round = 1; round <= rounds; round += 1) {
    print(`round ${round} of ${rounds}`)
    for (const side of inTurn(round)) await useItems(side)
  }
  report('Pages', {
    facts: [...facts, `Browser: headless Chromium ${browser.version()}`],
    parts: [
      table(
        ['', 'first paint, ms: fastest', 'quarter', 'half', 'three quarters', 'loaded, kB'],
        sides.flatMap(paintRows),
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
        sides.map(loadRow),
      ),
      `Medians of ${rounds} times, from the start of the page; a list has ${((sides[0]?.service.listBytes ?? 0) / 1e6).toFixed(1)} MB. ` +
        'A task of less than 50 ms counts as 0.',
      table(
        ['scrolling', 'frames', 'median', '99 %', 'longest', 'over 20 ms'],
        sides.map(frameRow),
      ),
      `${rounds} times ${scrollSeconds} s; times between frames in milliseconds; at 60 frames a second they are 16.7. ` +
        `${step} pixels a frame.`,
    ],
  })
} finally {
  await browser.close()
  await stop(...sides.map(({ service }) => service.child))
}

/** Returns the servers to compare, in reverse order if `number` is odd. */
function inTurn(number: number) {
  return number % 2 === 0 ? sides : sides.toReversed()
}

async function startSide(name: string, folder: string): Promise<Side> {
  const service = await startService(folder)
  return { name, service, paints: {}, loads: [], frames: [] }
}

function itemOf(number: number) {
  return {
    project_id: `project-${number % 7}`,
    title: `Item number ${number}`,
    price: number / 8,
    tags: ['one', 'two', 'three'],
    owner: { name: `owner ${number % 100}`, since: 2000 + (number % 26) },
    note: 'The quick brown fox jumps over the lazy dog.',
    done: number % 2 === 0,
  }
}

async function startService(folder: string) {
  const seed = join(scratch, 'items.jsonl')
  const lines = Array.from({ length: items }, (_, number) => JSON.stringify(itemOf(number)))
  writeFileSync(seed, lines.join('\n'))
  const flags = ['--port', '0', '--host', '127.0.0.1', '--log-level', 'error', '--seed', seed]
  const args = [join(folder, 'dist/cli.js'), 'dev', ...flags]
  const child = start({ args, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const [, origin = '', token = '']: RegExpExecArray = await new Promise((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      output += text
      const found = /items page (http:\/\/[^/]+)\/.*^TOKEN=(\S+)/ms.exec(output)
      if (found !== null) resolve(found)
    })
    const fail = () =>
      reject(new Error(`the service printed no address and token: ${child.errorOutput}`))
    child.ended.then(fail)
    setTimeout(fail, startDeadline).unref()
  })
  return { child, origin, token, listBytes: statSync(seed).size + items * 46 } // the list adds an id to each item
}

async function openPage(side: Side, page: string, path: string, isCounted: boolean) {
  const opened = await openOnce(side.service.origin + path)
  const measured = side.paints[page] ?? { times: [], bytes: opened.bytes }
  side.paints[page] = measured
  if (isCounted) measured.times.push(opened.painted)
  // If the first paint is late, the size includes preloaded files. So the smallest size of all visits is used.
  measured.bytes = Math.min(measured.bytes, opened.bytes)
}

async function openOnce(url: string) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(url)
  const opened = await page.evaluate(async () => {
    for (;;) {
      const [paint] = performance.getEntriesByName('first-contentful-paint')
      if (paint) {
        const loaded = performance
          .getEntries()
          .filter((each) => each instanceof PerformanceResourceTiming)
        const files = loaded.filter(
          ({ name, startTime }) => startTime < paint.startTime && !name.endsWith('.json'),
        )
        const bytes = files.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
        return { painted: paint.startTime, bytes }
      }
      await new Promise((resolve) => requestAnimationFrame(resolve))
    }
  })
  await context.close()
  return opened
}

async function useItems(side: Side) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
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
  await page.goto(`${side.service.origin}/#token=${side.service.token}`)
  await page.waitForFunction(
    (text) => document.querySelector('.status')?.textContent?.startsWith(text),
    `${count(items)} items`,
    { polling: 'raf', timeout: 120_000 },
  )
  const { complete, rows } = await page.evaluate(() => ({
    complete: performance.now(),
    rows: performance.getEntriesByName('rows')[0]?.startTime ?? Number.NaN,
  }))
  const task = await longestTask(page)
  await page.evaluate(() => {
    document.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', ctrlKey: true }))
  })
  await page.waitForFunction(
    (all) => document.querySelector('.status')?.textContent?.includes(all),
    `${count(items)} items selected`,
    { polling: 'raf' },
  )
  const selecting = await longestTask(page)
  side.loads.push({ rows, complete, task, selecting })
  side.frames.push(...(await scroll(page)))
  await context.close()
}

/** Returns the duration of the longest task since the last call, in ms. Browsers omit tasks under 50 ms. */
async function longestTask(page: Page): Promise<number> {
  return await page.evaluate(async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_000)) // browsers report tasks with a delay
    const tasks = performance.getEntriesByName('task')
    performance.clearMarks('task')
    return Math.max(0, ...tasks.map((each) => (each instanceof PerformanceMark ? each.detail : 0)))
  })
}

/** Scrolls the table down and up. @returns the times between frames, in milliseconds */
async function scroll(page: Page): Promise<number[]> {
  return await page.evaluate(
    async ({ step, seconds }) => {
      const grid = document.querySelector('[role=grid]')
      if (!grid) throw new Error('the page has no grid')
      const nextFrame: () => Promise<number> = () =>
        new Promise((resolve) => requestAnimationFrame(resolve))
      const times = []
      let change = step
      const started = await nextFrame()
      for (let last = started; last - started < seconds * 1000; ) {
        const before = grid.scrollTop
        grid.scrollTop += change
        if (grid.scrollTop === before) change = -change // the table has reached its top or bottom
        const now = await nextFrame()
        times.push(now - last)
        last = now
      }
      return times
    },
    { step, seconds: scrollSeconds },
  )
}

function paintRows({ name, paints }: Side) {
  return Object.entries(paints).map(([page, { times, bytes }]) => {
    const shown = [0, 0.25, 0.5, 0.75].map((share) => quantile(times, share).toFixed(0))
    return [`${page}, ${name}`, ...shown, (bytes / 1000).toFixed(1)]
  })
}

function loadRow({ name, loads }: Side) {
  const of = (key: keyof (typeof loads)[number]) =>
    median(loads.map((load) => load[key])).toFixed(0)
  return [name, of('rows'), of('complete'), of('task'), of('selecting')]
}

function frameRow({ name, frames }: Side) {
  const late = frames.filter((time) => time > 20).length
  const shown = [median(frames), quantile(frames, 0.99), Math.max(...frames)]
  return [
    name,
    String(frames.length),
    ...shown.map((time) => time.toFixed(1)),
    `${late} (${((100 * late) / frames.length).toFixed(1)} %)`,
  ]
}
