/** The sides of the comparison: this service, and other ways to do the same. */

import bare from './bare.mjs'
import fastapi from './fastapi.mjs'
import itemStore, { itemStoreOnRedis } from './item-store.mjs'
import jsonServer from './json-server.mjs'
import webdis from './webdis.mjs'

/** @import { Headers, Request } from '../lib/client.mjs' */
/** @import { Child, Program } from '../lib/processes.mjs' */
/** @import { Kind } from '../lib/workloads.mjs' */

/**
 * What a side starts with: a port of 127.0.0.1, the secret that tokens are signed with, the number of items
 * that the store is going to have, and the number of items that a list returns, 0 if nobody asks for one.
 * @typedef {{ port: number, secret: string, items: number, list: number }} StartOptions
 */

/**
 * @typedef {object} Side
 * @property {string} name
 * @property {string} about
 * @property {boolean} token whether it checks tokens
 * @property {Partial<Record<Kind, (id: string) => Request>>} requests those that it supports; `id` is that
 * of an item
 * @property {string[]} [skips] names of workloads that it supports, but not in a reasonable time
 * @property {() => string | undefined} [version] `undefined` when it is not installed
 * @property {(options: { port: number, secret: string }) => Program} [program] its server, where that is one
 * Node.js process
 * @property {(options: StartOptions) => Promise<{ programs: Child[], ids?: string[] }>} start its programs,
 * the server first, and the ids of its items if it starts with them
 * @property {(server: { port: number, headers: Headers }, count: number, seconds: number) => Promise<string[]>} create
 * creates as many items as fit into the time, and returns their ids
 */

/** @type {Side[]} */
export const sides = [itemStore, itemStoreOnRedis, bare, jsonServer, fastapi, webdis]
