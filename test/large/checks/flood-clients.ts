/** Clients for `flood.ts`. Arguments: port, number of connections, request to send. */

import { connect } from 'node:net'

const burst = 128 * 1024 // bytes per write, at least

const [port, connections, text = ''] = process.argv.slice(2)
const bytes = Buffer.from(text.repeat(Math.ceil(burst / text.length)))
for (let count = 0; count < Number(connections); count += 1) open()

function open(): void {
  const socket = connect(Number(port), '127.0.0.1').pause()
  const send = () => {
    while (!socket.destroyed && socket.write(bytes));
  }
  socket.on('connect', send).on('drain', send)
  socket.on('error', () => undefined).on('close', () => setTimeout(open, 100))
}
