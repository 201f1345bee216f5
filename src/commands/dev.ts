/** `item-store dev`. @module */

import { randomBytes } from 'node:crypto'
import { requireAuth } from './require-auth.js'
import { readSettings } from './settings.js'
import { start } from './start.js'

const tokenHours = 24

/** Serves with a secret for this run, and prints what a developer needs to try it. */
export async function run(args: string[]): Promise<void> {
  const config = readSettings('dev', args)
  process.env.JWT_SECRET ||= randomBytes(32).toString('base64url')
  requireAuth()
  const { server } = await start(config, { isReadable: true, requestLogLevel: 'info' })
  const { signToken } = await import('../auth/sign.js')
  const token = await signToken('dev', tokenHours * 3600)
  const until = new Date(Date.now() + tokenHours * 3_600_000).toISOString().slice(0, 16)
  process.stdout.write(`
The items are lost when the service stops. The token is valid for ${tokenHours} hours, until
${until.replace('T', ' ')} UTC. Paste this into another terminal:

TOKEN=${token}
BASE=${server.url}/api/v1

curl -w '\\n' $BASE/health
curl -w '\\n' -X POST $BASE/items -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{"data": {"name": "first"}, "project_id": "demo"}'
curl -w '\\n' $BASE/items -H "Authorization: Bearer $TOKEN"

`)
}
