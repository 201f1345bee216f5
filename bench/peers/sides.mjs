/**
 * The sides of the comparison. Each has a `name`, a description (`about`), whether it checks a
 * `token`, its `requests` by kind, how to `create` items, how to `start` its server, the workloads
 * that it `leavesOut`, and its `version`, `undefined` when it is not installed. Those whose server
 * is one Node.js process also tell which `program` that is.
 */

import bare from './bare.mjs'
import { fastapi, fastapiJson } from './fastapi.mjs'
import fastify from './fastify.mjs'
import itemStore from './item-store.mjs'
import jsonServer from './json-server.mjs'
import webdis from './webdis.mjs'

export const sides = [itemStore, bare, fastify, jsonServer, fastapi, fastapiJson, webdis]
