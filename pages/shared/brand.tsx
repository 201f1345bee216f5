/** The logo and the name of the product, at the top of each page. @module */

/** The file is the icon of the page, too: it is loaded once. */
const logo = new URL('./icon.svg', import.meta.url).href

export function Brand() {
  return (
    <span class="brand">
      <img src={logo} alt="" width="20" height="20" />
      Item Store
    </span>
  )
}
