/** Pages of the service in Chromium, where everything that must not happen fails the test. */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach } from 'node:test'
import { type Context, type Page, useBrowser } from './chromium.js'
import { requireTool, root } from './tools.js'

export interface GuardOptions {
  viewport?: { width: number; height: number }
  colorScheme?: 'light' | 'dark'
  /** Console messages that the test itself causes. */
  expected?: RegExp
  /** Which requests to the service currently get no response. */
  isCut?: (url: URL) => boolean
}

/** Sizes of screens, in CSS pixels. */
export const screens = {
  wide: { width: 1280, height: 800 },
  phone: { width: 360, height: 740 },
}

/** A context in which one page after another is open. */
interface GuardedContext {
  readonly context: Context
  /** Keeps the process of the pages, without which the next page would start another one. */
  readonly keeper: Page
  /** What the page that is open may ask, and where its problems go. */
  guard: { host: string; isCut: (url: URL) => boolean; problems: string[] }
}

/** Chromium logs it when the interface refuses a request, which is not an error of the page. */
const refusal = /^Failed to load resource: the server responded with a status of [45]\d\d/

/**
 * Has a browser for all tests in a file. A test fails at its end if a page has asked another host for anything,
 * has thrown or reported an error, or has violated its Content-Security-Policy. Call it outside of tests.
 * @returns a function that opens a page that cannot reach other hosts.
 */
export function useGuardedPages(): (url: string, options?: GuardOptions) => Promise<Page> {
  const newContext = useBrowser()
  let problemsOfTest: string[] = []
  // It comes before the end of what the test has started, which a page would report.
  afterEach(() => {
    const problems = problemsOfTest
    problemsOfTest = []
    assert.deepEqual(problems, [])
  })

  async function newGuarded(url: string, guard: GuardedContext['guard']) {
    const context = await newContext({ reducedMotion: 'reduce' })
    const keeper = await context.newPage()
    await keeper.goto(new URL('/api/v1/health', url).href)
    const guarded: GuardedContext = { context, keeper, guard }
    await context.addInitScript({
      content: `addEventListener('securitypolicyviolation', (event) => {
        console.error('CSP: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample)
      })`,
    })
    await context.route(
      (url) => url.host !== guarded.guard.host || guarded.guard.isCut(url),
      async (route) => {
        const url = route.request().url()
        const { host, problems } = guarded.guard
        if (new URL(url).host !== host) problems.push(`asked another host: ${url}`)
        await route.abort()
      },
    )
    return guarded
  }

  /** Those without a page. */
  const free: GuardedContext[] = []

  return async function open(
    url,
    { expected, isCut = () => false, viewport = screens.wide, colorScheme = 'light' } = {},
  ) {
    const problems = problemsOfTest
    const { host, origin } = new URL(url)
    let guarded = free.pop()
    let page: Page | undefined
    // An open page keeps taking time. Registered before the wait: after it, Node would take this for another test.
    after(async () => {
      await page?.close()
      if (guarded !== undefined) free.push(guarded)
    })
    const guard = { host, isCut, problems }
    guarded ??= await newGuarded(url, guard)
    guarded.guard = guard
    page = await guarded.context.newPage()
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    // As in a new context: what pages of this origin have stored is not there.
    const tools = await guarded.context.newCDPSession(page)
    await tools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
    await tools.send('Network.clearBrowserCache')
    page.on('pageerror', (error) => problems.push(`threw: ${error.stack ?? error}`))
    page.on('console', (message) => {
      if (!['error', 'warning'].includes(message.type())) return
      const text = message.text()
      const isOfInterface = message.location().url.includes('/api/v1/')
      if ((isOfInterface && refusal.test(text)) || expected?.test(text)) return
      problems.push(`reported: ${text}`)
    })
    await page.goto(url)
    return page
  }
}

interface Violation {
  id: string
  help: string
  nodes: { target: string[]; failureSummary: string }[]
}

/** Checks the page in its current state against all rules of axe-core, best practices included. */
export async function assertAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) {
    const source = readFileSync(requireTool.resolve('axe-core/axe.min.js'), 'utf8')
    await page.evaluate(`${source};0`)
  }
  const violations = await page.evaluate<Violation[]>('axe.run().then((all) => all.violations)')
  const found = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} (${help}): ${target} ${failureSummary}`),
  )
  assert.deepEqual(found, [])
}

/** Fails if anything is wider than the screen, so that the page scrolls sideways. */
export async function assertFits(page: Page): Promise<void> {
  const widths = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, innerWidth]',
  )
  assert.ok(widths[0] <= widths[1], `the page is ${widths[0]} wide on a screen of ${widths[1]}`)
}

/** Checks in light and in dark that the page has no violation and is not wider than the screen. */
export async function assertUsable(page: Page): Promise<void> {
  await assertFits(page)
  await inEachScheme(page, () => assertAccessible(page))
}

/** Does something in light and then in dark. */
export async function inEachScheme(
  page: Page,
  action: (scheme: 'light' | 'dark') => Promise<unknown>,
): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await action(colorScheme)
  }
}

/**
 * Takes pictures for the docs, in light and dark, when `PICTURES=on` asks for them.
 * @param last selects the element with which the picture ends, if the page is empty below it.
 */
export async function takePictures(page: Page, name: string, last?: string): Promise<void> {
  if (process.env.PICTURES !== 'on') return
  const folder = join(root, 'docs/pictures')
  mkdirSync(folder, { recursive: true })
  await inEachScheme(page, async (scheme) => {
    const path = join(folder, `${name}-${scheme}.png`)
    if (last === undefined) return await page.screenshot({ path })
    const [width, bottom] = await page.evaluate<[number, number]>(
      `[innerWidth, document.querySelector(${JSON.stringify(last)}).getBoundingClientRect().bottom]`,
    )
    await page.screenshot({ path, clip: { x: 0, y: 0, width, height: Math.ceil(bottom) + 16 } })
  })
}
