/**
 * The service under test. `BASE_URL` names any implementation of the interface, and ends with `/api/v1`. If `BASE_URL`
 * is set, `JWT_SECRET` must be the secret of the named service. Without `BASE_URL`, each test file starts this service
 * in a separate process.
 */

import { type Service, serviceAt } from './client.js'

const { BASE_URL, JWT_SECRET } = process.env

/**
 * Returns the service that all tests of a file use. If this function starts the service, the service is stopped after
 * the tests.
 */
export async function useService(): Promise<Service> {
  if (!BASE_URL) {
    // The package does not contain own-service.js, because its command always names a service. With a computed path, no
    // bundler includes the file.
    const path = new URL('../support/own-service.js', import.meta.url)
    const { ownService }: typeof import('../support/own-service.js') = await import(path.href)
    return await ownService()
  }
  if (!JWT_SECRET) throw new Error('BASE_URL is set; set JWT_SECRET to its secret too')
  return serviceAt(new URL(BASE_URL.replace(/\/$/, '')), JWT_SECRET)
}
