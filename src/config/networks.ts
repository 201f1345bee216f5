/** Lists of addresses and networks: `127.0.0.1,10.0.0.0/8,::1`. @module */

import { BlockList, isIP } from 'node:net'

/** @throws {Error} that says what is expected. */
export function networksOf(text: string): BlockList {
  const networks = new BlockList()
  for (const each of text.split(',')) {
    const [, address = '', , bits] = /^([^/]*)(\/(\d{1,3}))?$/.exec(each.trim()) ?? []
    const version = isIP(address)
    const most = version === 6 ? 128 : 32
    const length = bits === undefined ? most : Number(bits)
    if (version === 0 || length > most) {
      throw new Error('addresses or networks, such as 127.0.0.1,10.0.0.0/8')
    }
    networks.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4')
  }
  return networks
}
