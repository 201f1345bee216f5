/** Offers a file as a download. @module */

export function download(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // Some browsers start to read a large file only some time after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
