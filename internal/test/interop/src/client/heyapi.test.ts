import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { findHost } from '../host.js';
import { createClient } from '../wire/heyapi/dapi/client/index.js';
import * as dapi from '../wire/heyapi/dapi/sdk.gen.js';
import { checkApproval, checkChallenge } from './approval.js';
import { DeveloperKey } from './signature.js';

test('a client that hey-api generated logs in and pays', { timeout: 60_000 }, async () => {
  const host = await findHost();
  try {
    const key = new DeveloperKey(await readFile(host.keyFile, 'utf8'));
    let accessToken = '';
    const client = createClient({ baseUrl: `${host.baseUrl}/dapi/v1`, auth: () => accessToken, throwOnError: true });
    const call = { client, throwOnError: true } as const;

    const requestExpiry = new Date(Date.now() + 60_000).toISOString();
    const { data: challenge } = await dapi.createChallenge({ ...call, body: { email: host.email, requestExpiry } });
    const signature = key.sign(checkChallenge(challenge, host.email));
    const { data: grant } = await dapi.createToken({ ...call, body: { challengeId: challenge.challengeId, publicKey: key.publicKey, signature } });
    accessToken = grant.accessToken;

    await dapi.createDeposit({ ...call, body: { amount: '5', currency: 'USDC' } });
    const { data: contact } = await dapi.createContact({
      ...call,
      body: { name: 'Example', account: { accountType: 'sepa', currency: 'EUR', iban: 'DE89370400440532013000', accountHolderName: 'Example' } },
    });
    const terms = { contactId: contact.id, amount: '5', currency: 'USDC' } as const;
    const { data: booked } = await dapi.bookPayout({ ...call, headers: { 'Idempotency-Key': randomUUID() }, body: terms });
    const approval = checkApproval(booked, { account: 'self', ...terms });
    const { data: paid } = await dapi.confirmPayout({
      ...call,
      path: { payoutId: booked.id },
      body: { approvalId: approval.id, publicKey: key.publicKey, signature: key.sign(approval.payload) },
    });
    assert.equal(paid.id, booked.id);
    assert.notEqual(paid.status, 'awaiting_approval');
  } finally {
    await host.stop();
  }
});
