/** Creates self-signed certificates. */

import { join } from 'node:path'
import { outputOf } from './process.js'
import { emptyFolder } from './tools.js'

/** @param name subject alternative name, in the format of openssl. */
export function newCertificate(name = 'IP:127.0.0.1'): [certificate: string, key: string] {
  const folder = emptyFolder()
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  const names = ['-subj', '/CN=test', '-addext', `subjectAltName=${name}`]
  const files = ['-keyout', key, '-out', certificate]
  const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  outputOf('openssl', ['req', ...options, '-days', '2', ...names, ...files])
  return [certificate, key]
}
