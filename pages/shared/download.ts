/** Offers a file as a download. @module */

export function download(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // Some browsers do not read a large file until some time after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
