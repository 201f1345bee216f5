/** The pages in Chromium: their sizes, their first paint, and the items page with many items. */

import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requireTool, root } from '../test/support/tools.js'
import { describeMachine } from './lib/machine.js'
import { readOptions } from './lib/options.js'
import { scratch, start, stop } from './lib/processes.js'
import { count, report, table } from './lib/results.js'
import { median, quantile } from './lib/statistics.js'

/** The parts of playwright-core that are used here. */
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
  addInitScript<A>(script: (argument: A) => void, argument?: A): Promise<unknown>
  evaluate<T, A>(run: (argument: A) => T | Promise<T>, argument?: A): Promise<T>
  waitForFunction<A>(run: (argument: A) => unknown, argument: A, options: object): Promise<unknown>
}

const help = `Usage: npm run bench -- pages [options]   (needs Chromium)

`
readOptions(help, {})
const items = 100_000 // that the items page shows
const wideItems = 5_000
const columns = 190
const paints = 40 // how often each page is opened for its first paint
const scrollSeconds = 10
const steps = { scrollTop: 400, scrollLeft: 200 } // pixels a frame

const facts = describeMachine('server and browser on all cores')
const { chromium }: Playwright = requireTool('playwright-core')
const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
const service = await startService(items, (number) => ({
  project_id: `project-${number % 7}`,
  title: `Item number ${number}`,
  price: number / 8,
  tags: ['one', 'two', 'three'],
  owner: { name: `owner ${number % 100}`, since: 2000 + (number % 26) },
  note: 'The quick brown fox jumps over the lazy dog.',
  done: number % 2 === 0,
}))
const names = Array.from({ length: columns }, (_, column) => `member ${column}`)
const wideService = await startService(wideItems, (number) =>
  Object.fromEntries(
    names.map((name, column) => [name, column % 3 ? `${number} in ${name}` : number * column]),
  ),
)
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  const pages = [await openPage('API page', '/docs'), await openPage('items page', '/')]
  const { loading, frames } = await useItems()
  const wideFrames = await scrollColumns()
  report('Pages', {
    facts: [...facts, `Browser: Chromium ${browser.version()}, without a screen`],
    parts: [
      table(
        ['', 'first paint, ms: fastest', 'quarter', 'half', 'three quarters', 'loaded, kB'],
        pages,
      ),
      `The first contentful paint of ${paints}, each with an empty cache, in a new context of a browser that runs; ` +
        `and the files that a page asks for until then, with Brotli. All files of both pages: ${sizeOfAll()} kB.`,
      table([`items page with ${count(items)} items, from the start of the page`, ''], loading),
      table(
        [`${scrollSeconds} s of scrolling`, 'frames', 'median', '99 %', 'longest', 'over 20 ms'],
        [frames, wideFrames],
      ),
      `Times between frames in milliseconds; at 60 frames a second they are 16.7. ${steps.scrollTop} pixels a frame down, ` +
        `${steps.scrollLeft} sideways and back.`,
    ],
  })
} finally {
  await browser.close()
  await Promise.all([service, wideService].map(({ child }) => stop(child)))
}

/** Starts the service for development, with many items. */
async function startService(length: number, itemOf: (number: number) => object) {
  const seed = join(scratch, `${length}-items.jsonl`)
  const lines = Array.from({ length }, (_, number) => JSON.stringify(itemOf(number)))
  writeFileSync(seed, lines.join('\n'))
  const flags = ['--port', '0', '--host', '127.0.0.1', '--log-level', 'error', '--seed', seed]
  const args = [join(root, 'dist/cli.js'), 'dev', ...flags]
  const child = start({ args, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const [, origin = '', token = '']: RegExpExecArray = await new Promise((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      output += text
      const found = /items page (http:\S+)\/\n.*^TOKEN=(\S+)/ms.exec(output)
      if (found !== null) resolve(found)
    })
    child.ended.then(() => reject(new Error(`the service did not start: ${child.errorOutput}`)))
  })
  return { child, origin, token, listBytes: statSync(seed).size + length * 46 } // each with an id
}

/** Opens a page again and again, for its first paint and the size of what it loads. */
async function openPage(name: string, path: string) {
  const times: number[] = []
  let loaded = Number.POSITIVE_INFINITY // after a late paint, the files that are loaded ahead are counted, too
  for (let number = 0; number <= paints; number += 1) {
    const opened = await openOnce(path)
    if (number > 0) times.push(opened.painted) // an origin is opened once before it counts
    loaded = Math.min(loaded, opened.bytes)
  }
  const shown = [0, 0.25, 0.5, 0.75].map((share) => quantile(times, share))
  return [name, ...shown.map((time) => time.toFixed(0)), (loaded / 1000).toFixed(1)]
}

async function openOnce(path: string) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(service.origin + path)
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

/** Opens the items page with all items, and scrolls. */
async function useItems() {
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
  await openItems(page, service, items)
  const [complete, rows] = await page.evaluate(() => [
    performance.now(),
    performance.getEntriesByName('rows')[0]?.startTime,
  ])
  const loading = [
    ['first rows', `${rows?.toFixed(0)} ms`],
    [`list of ${(service.listBytes / 1e6).toFixed(1)} MB complete`, `${complete?.toFixed(0)} ms`],
  ]
  loading.push(['longest task until then', await longestTask(page)])
  await page.evaluate(() => {
    document.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', ctrlKey: true }))
  })
  await page.waitForFunction(
    (all) => document.querySelector('.status')?.textContent?.includes(all),
    `${count(items)} items selected`,
    { polling: 'raf' },
  )
  loading.push(['longest task when all are selected', await longestTask(page)])
  const frames = await scroll(page, 'scrollTop', `${count(items)} rows`)
  await context.close()
  return { loading, frames }
}

/** Opens the items page with all columns shown, and scrolls sideways. */
async function scrollColumns() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  await page.addInitScript((shown) => {
    localStorage.setItem('item-store-table:', JSON.stringify({ names: shown }))
  }, names)
  await openItems(page, wideService, wideItems)
  const frames = await scroll(page, 'scrollLeft', `${columns} columns`)
  await context.close()
  return frames
}

/** Opens the items page, and waits for all items. */
async function openItems(page: Page, { origin, token }: typeof service, all: number) {
  await page.goto(`${origin}/#token=${token}`)
  await page.waitForFunction(
    (text) => document.querySelector('.status')?.textContent?.startsWith(text),
    `${count(all)} items`,
    { polling: 'raf', timeout: 120_000 },
  )
}

/** The longest task since the last time that this was asked. Browsers tell only those of more than 50 ms. */
async function longestTask(page: Page) {
  const longest = await page.evaluate(async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_000)) // they are told some time later
    const tasks = performance.getEntriesByName('task')
    performance.clearMarks('task')
    return Math.max(0, ...tasks.map((each) => (each instanceof PerformanceMark ? each.detail : 0)))
  })
  return longest === 0 ? 'less than 50 ms' : `${longest.toFixed(0)} ms`
}

/** Scrolls the table, to and fro. */
async function scroll(page: Page, side: keyof typeof steps, name: string) {
  const frames = await page.evaluate(
    async ({ side, step, seconds }) => {
      const grid = document.querySelector('[role=grid]')
      if (!grid) throw new Error('the page has no grid')
      const nextFrame: () => Promise<number> = () =>
        new Promise((resolve) => requestAnimationFrame(resolve))
      const times = []
      let change = step
      const started = await nextFrame()
      for (let last = started; last - started < seconds * 1000; ) {
        const before = grid[side]
        grid[side] += change
        if (grid[side] === before) change = -change // at an end
        const now = await nextFrame()
        times.push(now - last)
        last = now
      }
      return times
    },
    { side, step: steps[side], seconds: scrollSeconds },
  )
  const late = frames.filter((time) => time > 20).length
  const shown = [median(frames), quantile(frames, 0.99), Math.max(...frames)]
  return [
    name,
    String(frames.length),
    ...shown.map((time) => time.toFixed(1)),
    `${late} (${((100 * late) / frames.length).toFixed(1)} %)`,
  ]
}

/** All files of the pages as they are sent, in kB. */
function sizeOfAll() {
  const folder = join(root, 'dist/pages')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const sizes = files
    .filter((file) => file.endsWith('.br'))
    .map((file) => statSync(join(folder, file)).size)
  return (sizes.reduce((sum, size) => sum + size, 0) / 1000).toFixed(1)
}
