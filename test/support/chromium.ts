/** Runs Chromium for tests of the web pages. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after } from 'node:test'
import { requireTool, unlessMissing } from './tools.js'

// Types of the parts of playwright-core that tests use. Each action waits until its element is ready.

interface Finder {
  locator(selector: string): Locator
  getByRole(role: string, options?: { name?: string | RegExp; exact?: boolean }): Locator
  getByLabel(text: string | RegExp, options?: { exact?: boolean }): Locator
  getByText(text: string | RegExp, options?: { exact?: boolean }): Locator
}

export interface Locator extends Finder {
  click(options?: { modifiers: 'Shift'[] }): Promise<void>
  dblclick(): Promise<void>
  fill(text: string): Promise<void>
  check(): Promise<void>
  uncheck(): Promise<void>
  press(key: string): Promise<void>
  focus(): Promise<void>
  /** @param option its value or label. */
  selectOption(option: string): Promise<unknown>
  setInputFiles(files: { name: string; mimeType: string; buffer: Buffer }): Promise<void>
  getAttribute(name: string): Promise<string | null>
  isVisible(): Promise<boolean>
  textContent(): Promise<string | null>
  inputValue(): Promise<string>
  count(): Promise<number>
  /** Returns an element's position in the window and its width, or `null` if the element is invisible. */
  boundingBox(): Promise<{ x: number; y: number; width: number } | null>
  waitFor(options?: { state?: 'attached' | 'detached' | 'visible' | 'hidden' }): Promise<void>
  first(): Locator
  last(): Locator
  nth(place: number): Locator
}

export interface Page extends Finder {
  goto(url: string): Promise<unknown>
  reload(): Promise<unknown>
  goBack(): Promise<unknown>
  goForward(): Promise<unknown>
  url(): string
  /** Unlike Playwright's `waitForFunction`, needs no `eval`, which our pages' Content-Security-Policy forbids. */
  evaluate<T>(expression: string): Promise<T>
  waitForEvent(event: 'download'): Promise<Download>
  close(): Promise<void>
  on(event: 'console', listener: (message: ConsoleMessage) => void): void
  on(event: 'dialog', listener: (dialog: BrowserDialog) => void): void
  on(event: 'pageerror', listener: (error: Error) => void): void
  on(
    event: 'request',
    listener: (request: {
      url(): string
      method(): string
      headers(): Record<string, string>
    }) => void,
  ): void
  setViewportSize(size: { width: number; height: number }): Promise<void>
  emulateMedia(options: {
    colorScheme?: 'light' | 'dark'
    forcedColors?: 'active' | 'none'
  }): Promise<void>
  screenshot(options: {
    path: string
    clip?: { x: number; y: number; width: number; height: number }
  }): Promise<unknown>
  readonly mouse: {
    move(x: number, y: number): Promise<void>
    down(): Promise<void>
    up(): Promise<void>
    dblclick(x: number, y: number): Promise<void>
  }
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> }
}

interface BrowserDialog {
  type(): string
  dismiss(): Promise<void>
}

interface Download {
  suggestedFilename(): string
  path(): Promise<string>
}

interface ConsoleMessage {
  type(): string
  text(): string
  location(): { url: string }
}

export interface Context {
  newPage(): Promise<Page>
  addInitScript(script: { content: string }): Promise<unknown>
  route(
    matches: (url: URL) => boolean,
    handle: (route: { abort(): Promise<void>; request(): { url(): string } }) => Promise<void>,
  ): Promise<unknown>
  setDefaultTimeout(time: number): void
  close(): Promise<void>
}

interface Browser {
  newContext(options?: { reducedMotion: 'reduce' }): Promise<Context>
  close(): Promise<void>
}

interface Playwright {
  chromium: { launch(options: object): Promise<Browser> }
}

export const executablePath =
  process.env.CHROMIUM_PATH ??
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'chromium'))
    .find((path) => existsSync(path))

/** Options for tests that need Chromium, which is found at `CHROMIUM_PATH` or on the `PATH`. */
export const inChromium = unlessMissing(executablePath === undefined && 'Chromium')

const actionTimeout = 60_000 // ms, so that only a stall fails a test

/** Provides one browser for all tests in a file. Call it outside tests. */
export function useBrowser(): () => Promise<Context> {
  let browser: Promise<Browser> | undefined
  after(async () => await (await browser)?.close())
  return async function newContext() {
    browser ??= launch()
    const context = await (await browser).newContext({ reducedMotion: 'reduce' })
    context.setDefaultTimeout(actionTimeout)
    return context
  }
}

export async function openPage(url: string): Promise<Page> {
  const browser = await launch()
  after(() => browser.close())
  const page = await (await browser.newContext()).newPage()
  await page.goto(url)
  return page
}

async function launch(): Promise<Browser> {
  assert.ok(executablePath, 'Chromium is not installed')
  const { chromium }: Playwright = requireTool('playwright-core')
  // As root, Chromium runs only without a sandbox. One process for all pages saves time.
  return await chromium.launch({ executablePath, args: ['--no-sandbox', '--process-per-site'] })
}
