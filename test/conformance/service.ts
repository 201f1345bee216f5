/** The service under test: the one at `BASE_URL`, with `JWT_SECRET`, or else a new process of this service. */

import { type Service, serviceAt } from './client.js'

const { BASE_URL, JWT_SECRET } = process.env

export async function useService(): Promise<Service> {
  if (!BASE_URL) {
    // The path is computed at run time, so that no bundler adds own-service.js to the package.
    const path = new URL('../support/own-service.js', import.meta.url)
    const { ownService }: typeof import('../support/own-service.js') = await import(path.href)
    return await ownService()
  }
  if (!JWT_SECRET) throw new Error('BASE_URL is set; set JWT_SECRET to its secret too')
  return serviceAt(new URL(BASE_URL.replace(/\/$/, '')), JWT_SECRET)
}
