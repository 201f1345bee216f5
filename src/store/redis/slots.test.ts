import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorReply } from '@redis/client'
import { mastersOf, redirectionOf } from './slots.js'

const text = (value: string) => Buffer.from(value)

test('the reply to CLUSTER SLOTS gives each slot the address of its master', () => {
  const reply = [
    [0, 1, [text('10.0.0.1'), 7000, text('id')], [text('10.0.0.9'), 7009, text('id')]],
    [5, 5, [text(''), 7001, text('id')]],
    [6, 6, [null, 7002, text('id')]],
    [7, 7, [text('::1'), 7003, text('id')]],
    [8, 8, [text('a.example'), 7004, text('id')]],
  ]
  assert.deepEqual(Object.fromEntries(mastersOf(reply, 'here:6379')), {
    ...{ 0: '10.0.0.1:7000', 1: '10.0.0.1:7000', 5: 'here:7001', 6: 'here:7002' },
    ...{ 7: '[::1]:7003', 8: 'a.example:7004' },
  })
  assert.deepEqual([...mastersOf([[6, 6, [null, 7002]]], '[::1]')], [[6, '[::1]:7002']])
})

const moved = { address: '10.0.0.1:7000', isAsk: false }
const redirections = [
  [new ErrorReply('MOVED 1 10.0.0.1:7000'), moved],
  [new ErrorReply('ASK 1 10.0.0.1:7000'), { ...moved, isAsk: true }],
  [new ErrorReply('MOVED 1 ::1:7000'), { ...moved, address: '[::1]:7000' }],
  [new ErrorReply('MOVED 1 :7000'), { ...moved, address: 'here:7000' }],
  [new ErrorReply('ERR no'), undefined],
  [new Error('MOVED 1 10.0.0.1:7000'), undefined],
] as const
for (const [error, expected] of redirections) {
  test(`${error} is ${expected ? `a redirection to ${expected.address}` : 'not a redirection'}`, () => {
    assert.deepEqual(redirectionOf(error, 'here:6379'), expected)
  })
}
