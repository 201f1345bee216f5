/**
 * The service under test: the one that `BASE_URL` names, any implementation of the interface, or
 * this one, started as a process of its own for each file of tests.
 *
 * `BASE_URL` ends with `/api/v1`; `JWT_SECRET` has to be that service's own then.
 */

import { type Service, serviceAt } from './client.js'

const { BASE_URL, JWT_SECRET } = process.env

/** The service for all tests of a file; ended after them if it was started for them. */
export async function useService(): Promise<Service> {
  if (!BASE_URL) {
    // It is not in the package, whose command always names a service, so no bundler may follow it.
    const path = new URL('../support/own-service.js', import.meta.url)
    const { ownService }: typeof import('../support/own-service.js') = await import(path.href)
    return await ownService()
  }
  if (!JWT_SECRET) throw new Error('BASE_URL is set; set JWT_SECRET to its secret too')
  return serviceAt(new URL(BASE_URL.replace(/\/$/, '')), JWT_SECRET)
}
