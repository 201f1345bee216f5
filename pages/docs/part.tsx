/** A section of the page, with a title that links to the section. @module */

import type { ComponentChildren } from 'preact'

interface PartProps {
  readonly id: string
  readonly title: string
  readonly children: ComponentChildren
}

export function Part({ id, title, children }: PartProps) {
  return (
    <section id={id} class="part" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>
        <a href={`#${id}`}>{title}</a>
      </h2>
      {children}
    </section>
  )
}
