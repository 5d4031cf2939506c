import assert from 'node:assert/strict';
import { createVerify, generateKeyPairSync, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { findHost, type Host } from '../host.js';
import { openAccount, until } from './account.js';
import { checkApproval } from './approval.js';
import { connect, logIn, ok, type Platform, refusal } from './platform.js';
import { DeveloperKey } from './signature.js';

// Half the order of P-256's base point (SEC 2, secp256r1).
const halfOrder = 0x7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8n;

describe('a client that shares no code with the SDK', { timeout: 120_000 }, () => {
  let host: Host;
  let key: DeveloperKey;
  let platform: Platform;
  before(async () => {
    host = await findHost();
    key = new DeveloperKey(await readFile(host.keyFile, 'utf8'));
    platform = await logIn(host.baseUrl, host.email, key);
  });
  after(() => host?.stop());

  test('logs in, pays and reads the ledger', async () => {
    const account = await openAccount(platform, '50');
    const bank = await account.bankContact();
    const booked = await account.book('first', { contactId: bank.id, amount: '12.5', currency: 'USDC' });
    assert.equal(booked.status, 'awaiting_approval');
    const approval = checkApproval(booked, { account: account.id, contactId: bank.id, amount: '12.5', currency: 'USDC' });

    const confirmed = ok(await account.confirm(booked.id, approval, key));
    assert.equal(confirmed.id, booked.id);
    const paid = await until(
      async () => ok(await platform.GET('/payouts/{payoutId}', { params: { path: { payoutId: booked.id }, header: account.header } })),
      (payout) => payout.status === 'completed',
    );
    assert.equal(paid.amount, '12.5');

    const entries = await account.ledger();
    assert.deepEqual(
      entries.map(({ type, direction, currency, status, payoutId }) => ({ type, direction, currency, status, payoutId })),
      [
        { type: 'payout', direction: 'out', currency: 'USDC', status: 'completed', payoutId: booked.id },
        { type: 'deposit', direction: 'in', currency: 'USDC', status: 'completed', payoutId: undefined },
      ],
    );
    const [left, credited] = entries.map((entry) => millionths(entry.amount)) as [bigint, bigint];
    assert.equal(credited, millionths('50'));
    assert.ok(left >= millionths('12.5'), 'less left than was paid');
    const client = ok(await platform.GET('/clients/{clientId}', { params: { path: { clientId: account.id } } }));
    const balance = client.balances?.find(({ currency }) => currency === 'USDC');
    assert.equal(millionths(balance?.available ?? '0'), credited - left, 'the balance is not what the ledger sums to');
  });

  test('pays once for a key, and refuses other terms under it', async () => {
    const account = await openAccount(platform, '20');
    const bank = await account.bankContact();
    const terms = { contactId: bank.id, amount: '5', currency: 'USDC' } as const;
    const first = await account.book('again', terms);
    const second = await account.book('again', terms);
    assert.equal(second.id, first.id);
    assert.equal(refusal(await account.tryBook('again', { ...terms, amount: '6' })), '409 idempotency_key_reused');
    ok(await account.confirm(second.id, second.approval!, key));
    await until(
      () => account.ledger(),
      (entries) => entries.some(({ type, status }) => type === 'payout' && status === 'completed'),
    );
    assert.equal((await account.ledger()).filter(({ type }) => type === 'payout').length, 1);
  });

  test('pays a wallet', async () => {
    const account = await openAccount(platform, '20');
    const wallet = ok(
      await platform.POST('/contacts', {
        params: { header: account.header },
        body: { name: 'Example wallet', account: { accountType: 'onchain', walletAddress: '0x' + '5'.repeat(40), chainId: 'base', currency: 'USDC' } },
      }),
    );
    const booked = await account.book('wallet', { contactId: wallet.id, amount: '7.25', currency: 'USDC' });
    const approval = checkApproval(booked, { account: account.id, contactId: wallet.id, amount: '7.25', currency: 'USDC' });
    ok(await account.confirm(booked.id, approval, key));
    const paid = await until(
      async () => ok(await platform.GET('/payouts/{payoutId}', { params: { path: { payoutId: booked.id }, header: account.header } })),
      (payout) => payout.status === 'completed',
    );
    assert.match(paid.transactionHash ?? '', /^0x[0-9a-f]{64}$/);
  });

  test('moves no money without the right signature', async () => {
    const account = await openAccount(platform, '20');
    const bank = await account.bankContact();
    const booked = await account.book('forged', { contactId: bank.id, amount: '5', currency: 'USDC' });
    const forged = { ...booked.approval!, payload: Buffer.from('{"amount":"0.01"}').toString('base64') };
    assert.equal(refusal(await account.confirm(booked.id, forged, key)), '400 signature_invalid');
    assert.equal((await account.ledger()).filter(({ type }) => type === 'payout').length, 0);
  });

  test('cannot log in with a key that is not registered, nor call without a session', async () => {
    const stranger = new DeveloperKey(newKey());
    await assert.rejects(logIn(host.baseUrl, host.email, stranger), /^Error: 403 .*key_not_registered/);
    assert.equal(refusal(await connect(host.baseUrl).GET('/transactions', {})), '401 unauthenticated');
  });

  test('signs low-S DER that others verify', async () => {
    const pem = newKey();
    const signer = new DeveloperKey(pem);
    for (let i = 0; i < 200; i++) {
      const message = Buffer.from(randomUUID());
      const signature = Buffer.from(signer.sign(message.toString('base64')), 'base64');
      assert.ok(createVerify('sha256').update(message).verify(pem, signature), signature.toString('hex'));
      const s = signature.subarray(4 + signature[3]! + 2);
      assert.ok(BigInt('0x' + s.toString('hex')) <= halfOrder, 'a high S');
    }
  });
});

/** An amount with at most six decimals, exactly. */
function millionths(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  assert.ok(fraction.length <= 6, `${amount} has more than six decimals`);
  return BigInt(whole + fraction.padEnd(6, '0'));
}

function newKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
