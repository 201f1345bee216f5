/** A section of the API page, with a title that links to the section. @module */

import type { RenderableProps } from 'preact'

export function Part({ id, title, children }: RenderableProps<{ id: string; title: string }>) {
  return (
    <section id={id} class="part" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>
        <a href={`#${id}`}>{title}</a>
      </h2>
      {children}
    </section>
  )
}
