import assert from 'node:assert/strict';
import type { Schemas } from './platform.js';

/** What the caller of a payout asked for; an approval must say the same. */
export interface Asked {
  account: string;
  contactId: string;
  amount: string;
  currency: string;
  toChainId?: number;
}

/** How long an approval may last in milliseconds: 120 seconds, and 30 for clocks that differ. */
const window = 150_000;

/** Fails unless the approval is canonical JSON that approves exactly this payout. */
export function checkApproval(payout: Schemas['Payout'], asked: Asked): Schemas['Approval'] {
  assert.ok(payout.approval, 'a booked payout carries an approval');
  const { id, payload, expiresAt } = payout.approval;
  const { nonce, destination, amount, ...rest } = readPayload(payload);
  assert.ok(typeof nonce === 'string' && nonce !== '', 'no nonce');
  const { contactId, chainId, ...elsewhere } = destination as Record<string, unknown>;
  assert.deepEqual([contactId, elsewhere], [asked.contactId, {}], 'another destination');
  assert.equal(chainId === undefined ? undefined : String(chainId), asked.toChainId?.toString(), 'another chain');
  assert.ok(typeof amount === 'string' && /^\d{1,30}(\.\d{1,18})?$/.test(amount), 'no amount');
  assert.equal(atomic(amount), atomic(asked.amount), 'another amount');
  const left = Date.parse(expiresAt) - Date.now();
  assert.ok(left > 0 && left <= window, 'the window is closed, or too long');
  assert.deepEqual(rest, {
    approvalId: id,
    operation: 'payout.fund',
    resourceId: payout.id,
    account: asked.account,
    currency: asked.currency,
    expiresAt,
  });
  return payout.approval;
}

/** Fails unless the payload is the challenge of this login. The same key signs payments, and the host chooses the bytes. */
export function checkChallenge({ challengeId, payload }: Schemas['Challenge'], email: string): string {
  const { expiresAt, nonce, ...rest } = readPayload(payload);
  assert.ok(typeof expiresAt === 'string' && typeof nonce === 'string', 'no challenge');
  assert.deepEqual(rest, { challengeId, email, purpose: 'login' });
  return payload;
}

/** Reads a payload. Only one text means it, so no member is there twice. */
function readPayload(payload: string): Record<string, unknown> {
  const bytes = Buffer.from(payload, 'base64');
  const said = JSON.parse(bytes.toString('utf8'));
  assert.ok(said !== null && typeof said === 'object' && !Array.isArray(said), 'no object');
  assert.ok(bytes.equals(Buffer.from(canonical(said))), 'the payload is not in RFC 8785 canonical form');
  return said;
}

/** An amount in units of 10^-18. */
function atomic(amount: string): bigint {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(18, '0'));
}

/** RFC 8785: the standard defines numbers and strings by what JSON.stringify writes, and sorts keys by UTF-16 code units as sort does. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`;
}
