/** Opens pages in Chromium. Errors, policy violations and requests to other hosts fail the test. */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach } from 'node:test'
import { type Context, type Page, useBrowser } from './chromium.js'
import { requireTool, root } from './tools.js'

export interface GuardOptions {
  viewport?: { width: number; height: number }
  expected?: RegExp // console messages
  isCut?: (url: URL) => boolean // URLs of the service to which requests are aborted
}

/** Screen sizes, in CSS pixels. */
export const screens = {
  wide: { width: 1280, height: 800 },
  phone: { width: 360, height: 740 },
}

/** Chromium's log message for an error response, which is not an error in the page. */
const refusal = /^Failed to load resource: the server responded with a status of [45]\d\d/

/** Prepares a browser for all tests in a file. Call it outside tests. */
export function useGuardedPages(): (url: string, options?: GuardOptions) => Promise<Page> {
  const newContext = useBrowser()
  let problemsOfTest: string[] = []
  // Checks before the services stop: after that, pages that are still open log errors.
  afterEach(() => {
    const problems = problemsOfTest
    problemsOfTest = []
    assert.deepEqual(problems, [])
  })

  return async function open(url, { expected, isCut = () => false, viewport = screens.wide } = {}) {
    const problems = problemsOfTest
    const { host } = new URL(url)
    let context: Context | undefined
    // Called before any `await`: after one, Node.js might add the hook to another test.
    after(() => context?.close())
    context = await newContext()
    await context.addInitScript({
      content: `addEventListener('securitypolicyviolation', (event) => {
        console.error('CSP: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample)
      })`,
    })
    await context.route(
      (url) => url.host !== host || isCut(url),
      async (route) => {
        const url = route.request().url()
        if (new URL(url).host !== host) problems.push(`asked another host: ${url}`)
        await route.abort()
      },
    )
    const page = await context.newPage()
    await page.setViewportSize(viewport)
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

/** Checks the page, once its animations have ended, against the rules of axe-core (by default, all). */
export async function assertAccessible(page: Page, rules?: readonly string[]): Promise<void> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) {
    const source = readFileSync(requireTool.resolve('axe-core/axe.min.js'), 'utf8')
    await page.evaluate(`${source};0`)
  }
  const violations = await page.evaluate<string[]>(`{
    for (const each of document.getAnimations()) each.finish()
    axe.run(${JSON.stringify({ runOnly: rules })}).then(({ violations }) =>
      violations.flatMap(({ id, help, nodes }) =>
        nodes.map((each) => id + ' (' + help + '): ' + each.target + ' ' + each.failureSummary)))
  }`)
  assert.deepEqual(violations, [])
}

export async function assertFits(page: Page): Promise<void> {
  const widths = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, innerWidth]',
  )
  assert.ok(widths[0] <= widths[1], `the page is ${widths[0]} wide on a screen of ${widths[1]}`)
}

const rulesOfColours = ['color-contrast', 'link-in-text-block']

export async function assertUsable(page: Page): Promise<void> {
  await assertFits(page)
  await inEachScheme(page, (scheme) =>
    assertAccessible(page, scheme === 'dark' ? rulesOfColours : undefined),
  )
}

async function inEachScheme(
  page: Page,
  action: (scheme: 'light' | 'dark') => Promise<unknown>,
): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await action(colorScheme)
  }
}

/** Takes screenshots if `PICTURES=on`. If `last` is given, each one ends below the element with this selector. */
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
