import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkApproval, checkChallenge } from './approval.js';

type Members = Record<string, unknown>;

const expiresAt = new Date(Date.now() + 100_000).toISOString();
const asked = { account: 'cl_1', contactId: 'ct_1', amount: '12.5', currency: 'USDC' };
const approved = {
  account: 'cl_1',
  amount: '12.50',
  approvalId: 'apr_1',
  currency: 'USDC',
  destination: { contactId: 'ct_1' },
  expiresAt,
  nonce: 'n',
  operation: 'payout.fund',
  resourceId: 'po_1',
};
const login = { challengeId: 'ch_1', email: 'ops@example.com', expiresAt, nonce: 'n', purpose: 'login' };

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Checks an approval whose payload is this text. */
function approve(text: string, ends = expiresAt) {
  const payout = { id: 'po_1', approval: { id: 'apr_1', payload: base64(text), expiresAt: ends } };
  return checkApproval(payout as Parameters<typeof checkApproval>[0], asked);
}

function challenge(text: string) {
  return checkChallenge({ challengeId: 'ch_1', payload: base64(text), expiresAt }, 'ops@example.com');
}

/** JSON with sorted members at the top. */
const sorted = (members: Members) => JSON.stringify(Object.fromEntries(Object.entries(members).sort()));

describe('a host that cheats gets no signature', () => {
  test('and an honest one gets it', () => {
    approve(sorted(approved));
    challenge(sorted(login));
  });

  const changes: Members = {
    account: 'self', amount: '12.51', approvalId: 'apr_2', currency: 'EURC', expiresAt: '2099-01-01T00:00:00Z', nonce: '',
    operation: 'escrow.release', resourceId: 'po_2', beneficiary: 'Eve', destination: undefined,
  };
  for (const [member, value] of Object.entries(changes)) {
    test(`for another ${member}`, () => assert.throws(() => approve(sorted({ ...approved, [member]: value }))));
  }
  for (const destination of [{ contactId: 'ct_2' }, { address: '0x1', contactId: 'ct_1' }, { chainId: '1', contactId: 'ct_1' }]) {
    test(`for ${JSON.stringify(destination)}`, () => assert.throws(() => approve(sorted({ ...approved, destination }))));
  }
  test('for a number', () => assert.throws(() => approve(sorted({ ...approved, amount: 12.5 }))));
  test('for a window without end', () => {
    const end = '2099-01-01T00:00:00Z';
    assert.throws(() => approve(sorted({ ...approved, expiresAt: end }), end));
  });
  for (const [name, text] of [
    ['a member that is there twice', sorted(approved).replace('{"account"', '{"account":"self","account"')],
    ['white space', sorted(approved) + '\n'],
    ['bytes', 'pay everything'],
  ] as const) {
    test(`for ${name}`, () => assert.throws(() => approve(text)));
  }

  for (const [name, text] of [
    ['an approval', sorted(approved)],
    ['an approval that says that it is a login', sorted({ ...login, approvalId: 'apr_1' })],
    ['the login of another', sorted({ ...login, email: 'eve@example.com' })],
    ['another purpose', sorted({ ...login, purpose: 'payout' })],
    ['bytes', 'pay everything'],
  ] as const) {
    test(`that calls a challenge ${name}`, () => assert.throws(() => challenge(text)));
  }
});
