/** `npm run pictures`: runs the tests of the pages, which then take the pictures of docs/pictures. */

process.env.PICTURES = 'on'
process.argv.splice(2, Number.POSITIVE_INFINITY, 'test/pages/')
await import('./test.mjs')
