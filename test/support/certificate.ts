/** Creates self-signed certificates. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { emptyFolder } from './tarball.js'

/** @param name subject alternative name, in the format of openssl. */
export function newCertificate(name = 'IP:127.0.0.1'): [certificate: string, key: string] {
  const folder = emptyFolder()
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  const names = ['-subj', '/CN=test', '-addext', `subjectAltName=${name}`]
  const files = ['-keyout', key, '-out', certificate]
  const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const { status } = spawnSync('openssl', ['req', ...options, '-days', '2', ...names, ...files])
  assert.equal(status, 0)
  return [certificate, key]
}
