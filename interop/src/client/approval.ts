import assert from 'node:assert/strict';
import type { Schemas } from './platform.js';

/** What the caller of a payout asked for; an approval must say the same. */
export interface Asked {
  account: string;
  contactId: string;
  amount: string;
  currency: string;
}

/** Fails unless the approval is canonical JSON that approves exactly this payout. */
export function checkApproval(payout: Schemas['Payout'], asked: Asked): Schemas['Approval'] {
  assert.ok(payout.approval, 'a booked payout carries an approval');
  const { id, payload, expiresAt } = payout.approval;
  const text = Buffer.from(payload, 'base64').toString('utf8');
  const said = JSON.parse(text);
  assert.equal(text, canonical(said), 'the payload is not in RFC 8785 canonical form');
  const { nonce, destination, ...rest } = said;
  assert.match(nonce, /\S/);
  assert.equal(destination.contactId, asked.contactId);
  assert.deepEqual(rest, {
    approvalId: id,
    operation: 'payout.fund',
    resourceId: payout.id,
    account: asked.account,
    amount: asked.amount,
    currency: asked.currency,
    expiresAt,
  });
  return payout.approval;
}

/** RFC 8785: the standard defines numbers and strings by what JSON.stringify writes, and sorts keys by UTF-16 code units as sort does. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`;
}
