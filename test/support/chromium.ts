/** Chromium, for tests of what runs in a browser. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after, type TestOptions } from 'node:test'
import { requireTool } from './tools.js'

/** The part of playwright-core that tests use. */
export interface Page {
  goto(url: string): Promise<unknown>
  /** The value of an expression in the page, once it is there. */
  evaluate<T>(expression: string): Promise<T>
}

interface Playwright {
  chromium: {
    launch(options: object): Promise<{ newPage(): Promise<Page>; close(): Promise<void> }>
  }
}

const executablePath =
  process.env.CHROMIUM_PATH ??
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'chromium'))
    .find((path) => existsSync(path))

const missing = 'there is no Chromium: install it, or set CHROMIUM_PATH'

/** For a test that needs Chromium: skipped without one, except where everything has to be tested. */
export const inChromium: TestOptions =
  executablePath === undefined && process.env.CI !== 'true' ? { skip: missing } : {}

/** Opens a page in a browser of its own, which ends with the test. @throws {Error} without Chromium. */
export async function openPage(url: string): Promise<Page> {
  assert.ok(executablePath, missing)
  const { chromium }: Playwright = requireTool('playwright-core')
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] }) // as root
  after(() => browser.close())
  const page = await browser.newPage()
  await page.goto(url)
  return page
}
