/** The sides of the comparison: this service, and other ways to do the same. */

import bare from './bare.mjs'
import fastapi from './fastapi.mjs'
import itemStore, { itemStoreOnRedis } from './item-store.mjs'

/** @import { Headers } from '../lib/client.mjs' */
/** @import { Child } from '../lib/processes.mjs' */

/**
 * What a side starts with: a port of 127.0.0.1, the secret that tokens are signed with, and the number of
 * items that a list returns, 0 if nobody asks for one.
 * @typedef {{ port: number, secret: string, list: number }} StartOptions
 */

/**
 * @typedef {object} Side
 * @property {string} name
 * @property {string} about
 * @property {string[]} [skips] names of workloads that it is not measured with
 * @property {() => string | undefined} [version] `undefined` when it is not installed
 * @property {(options: StartOptions) => Promise<Child[]>} start its programs, the server first
 * @property {(server: { port: number, headers: Headers }, count: number, seconds: number) => Promise<string[]>} create
 * creates as many items as fit into the time, and returns their ids
 */

/** @type {Side[]} */
export const sides = [itemStore, itemStoreOnRedis, bare, fastapi]
