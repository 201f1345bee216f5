/** Shows the JSON text of an item in a table row. Lines break only between members. @module */

import { coloured } from '../../shared/json-colours.js'
import { membersOf } from '../model/members.js'

const longest = 800 // characters of an item
const long = 60 // characters; longer members can break between nested members
const inner = /(?<=[,{[])(?="(?:[^"\\]|\\.)*"\s*:)/

export function JsonText({ text }: { text: string }) {
  const start = text.slice(0, longest)
  const places = Array.from(membersOf(start), ({ start }) => start)
  const members = [0, ...places.slice(1)].map((place, at) => start.slice(place, places[at + 1]))
  const parts = members.flatMap((member) => (member.length > long ? member.split(inner) : member))
  return (
    <span>
      {parts.map((part, at) => (
        <span key={at} class="whole">
          {coloured(part)}
        </span>
      ))}
    </span>
  )
}

/** Returns the median height of the JSON texts in the rendered rows, in CSS pixels. */
export function heightOfMost(grid: HTMLElement): number {
  const texts = grid.querySelectorAll('td > :last-child')
  const heights = Array.from(texts, ({ scrollHeight }) => scrollHeight)
  return heights.sort((one, other) => one - other)[Math.floor(heights.length / 2)] ?? 0
}
