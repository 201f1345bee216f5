/** Keeps the address and the history of the page in step with what is seen, so that links and Back work. @module */

import { panel } from './panel.js'
import { draftWithId } from './session.js'
import { addressOf, placeIn, view } from './view.js'

const pause = 400 // ms without changes before a detail is written; browsers allow few changes

/** Parts that change without a new entry in the history: the text of a filter, and the open item. */
const details = /(?<=\b(?:search|where|item)=)[^&]+/g

/** Address of the entry to which the page itself is going back, until it's there. */
let awaited: string | undefined

const written = () => location.hash.slice(1)
const openItem = () => panel.get() && (panel.get()?.item?.id ?? '')
const seen = () => addressOf({ view: view.get(), item: openItem() })
const isStep = (one: string, other: string) =>
  one.replaceAll(details, '') !== other.replaceAll(details, '')

let timer: ReturnType<typeof setTimeout> | undefined

for (const state of [view, panel])
  state.subscribe(() => {
    clearTimeout(timer)
    // A step is written before the next event, which may be Back.
    if (isStep(seen(), written())) queueMicrotask(write)
    else timer = setTimeout(write, pause)
  })

function write(): void {
  const [before, now] = [written(), seen()]
  // While the user is asked what to do with typed text, it isn't known what will be shown next.
  if (now === before || awaited !== undefined || panel.get()?.pending) return
  const url = location.pathname + location.search + (now && `#${now}`)
  const isClosing = placeIn(now).item === undefined && placeIn(before).item !== undefined
  // Closing an item undoes the step that opened it, so that Back does not open it again.
  if (isClosing && history.state?.below === now) {
    awaited = now
    history.back()
  } else if (isStep(now, before) && !isClosing) history.pushState({ below: before }, '', url)
  else history.replaceState(history.state, '', url)
}

addEventListener('popstate', () => {
  const isOwn = awaited === written()
  awaited = undefined
  if (isOwn) return write()
  if (new URLSearchParams(written()).has('token')) return // it changes nothing else
  const place = placeIn()
  if (written() !== seen()) view.set(place.view) // otherwise, unfinished conditions stay
  if (place.item === openItem()) panel.dispatch({ type: 'stay' })
  else {
    const to = place.item === undefined ? 'close' : draftWithId(place.item)
    panel.dispatch({ type: 'go', to })
  }
})
