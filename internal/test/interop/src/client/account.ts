import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ok, type Platform, type Schemas } from './platform.js';
import type { DeveloperKey } from './signature.js';

const iban = 'DE89370400440532013000';

/** A client of the integrator that is ready and has something to spend. */
export async function openAccount(platform: Platform, credit: string) {
  const email = `${randomUUID()}@example.com`;
  const created = ok(await platform.POST('/clients', { params: {}, body: { email, type: 'business', entityName: 'Example' } }));
  const { id } = await until(
    async () => ok(await platform.GET('/clients/{clientId}', { params: { path: { clientId: created.id } } })),
    (client) => client.status === 'ready',
  );
  const header = { 'X-Service-Account': id };
  ok(await platform.POST('/sandbox/deposits', { params: { header }, body: { amount: credit, currency: 'USDC' } }));

  const tryBook = (name: string, body: Schemas['PayoutCreate']) =>
    platform.POST('/payouts', { params: { header: { ...header, 'Idempotency-Key': `${id}-${name}` } }, body });
  return {
    id,
    header,
    tryBook,
    book: async (name: string, body: Schemas['PayoutCreate']) => ok(await tryBook(name, body)),
    bankContact: async () => {
      const account = { accountType: 'sepa', currency: 'EUR', iban, accountHolderName: 'Example beneficiary' } as const;
      return ok(await platform.POST('/contacts', { params: { header }, body: { name: 'Example beneficiary', account } }));
    },
    confirm: (payoutId: string, { id: approvalId, payload }: Schemas['Approval'], key: DeveloperKey) =>
      platform.POST('/payouts/{payoutId}/confirm', {
        params: { path: { payoutId }, header },
        body: { approvalId, publicKey: key.publicKey, signature: key.sign(payload) },
      }),
    /** The whole ledger, newest first, an entry a page. */
    ledger: async () => {
      const entries: Schemas['Transaction'][] = [];
      let cursor: string | undefined;
      do {
        const page = ok(await platform.GET('/transactions', { params: { header, query: { limit: 1, ...(cursor && { cursor }) } } }));
        entries.push(...page.items);
        cursor = page.nextCursor;
      } while (cursor);
      return entries;
    },
  };
}

/** Reads until what was read is as wanted, for at most 20 seconds. */
export async function until<T>(read: () => Promise<T>, wanted: (value: T) => boolean): Promise<T> {
  for (const end = Date.now() + 20_000; ; await sleep(100)) {
    const value = await read();
    if (wanted(value)) return value;
    if (Date.now() > end) assert.fail(`still ${JSON.stringify(value)}`);
  }
}
