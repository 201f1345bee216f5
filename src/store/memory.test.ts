import { describe } from 'node:test'
import { describeFullStore, describeStore } from '../../test/support/store-behaviour.js'
import { createMemoryStore } from './memory.js'

describeStore('the memory store', () => createMemoryStore(100_000_000))
describe('the memory store', () => describeFullStore(createMemoryStore))
