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

const redirections = [
  { says: 'MOVED 1 10.0.0.1:7000', address: '10.0.0.1:7000', isAsk: false },
  { says: 'ASK 1 10.0.0.1:7000', address: '10.0.0.1:7000', isAsk: true },
  { says: 'MOVED 1 ::1:7000', address: '[::1]:7000', isAsk: false },
  { says: 'MOVED 1 :7000', address: 'here:7000', isAsk: false },
]
for (const { says, ...expected } of redirections) {
  test(`${says} is a redirection to ${expected.address}`, () => {
    assert.deepEqual(redirectionOf(new ErrorReply(says), 'here:6379'), expected)
  })
}

for (const error of [new ErrorReply('ERR no'), new Error('MOVED 1 10.0.0.1:7000'), undefined]) {
  test(`${error} is not a redirection`, () => {
    assert.equal(redirectionOf(error, 'here:6379'), undefined)
  })
}
