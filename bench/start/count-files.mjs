/** Loaded before a server: counts the JavaScript files that follow, and tells when asked. */

import { Session } from 'node:inspector'

const files = new Set()
const session = new Session()
session.connect()
session.on('Debugger.scriptParsed', ({ params: { url } }) => {
  if (url.startsWith('file:') && url !== import.meta.url) files.add(url)
})
session.post('Debugger.enable')

process.once('message', () => process.send(files.size))
// The server must run as it would without this channel.
process.channel.unref()
