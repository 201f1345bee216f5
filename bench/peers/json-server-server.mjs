/**
 * The server of side `json-server`. Its own command listens on all addresses regardless of its
 * options and also watches the file, so its application is started here instead.
 */

import { createApp } from 'json-server/lib/app.js'
import { Low } from 'lowdb'
import { JSONFile } from 'lowdb/node'

/** @import { Data } from 'json-server/lib/service.js' */

const [port, file = ''] = process.argv.slice(2)
/** @type {JSONFile<Data>} */
const adapter = new JSONFile(file)
const db = new Low(adapter, {})
await db.read()
createApp(db, { logger: false }).listen(Number(port), undefined, '127.0.0.1')
