import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runToEnd } from '../child.js';
import { environment, type Host, startHost } from '../host.js';
import { type Gate, openGate } from './gate.js';
import { findPrograms, secondClient } from './programs.js';
import { serve, type Server } from './server.js';

describe('what passes a validating proxy is as described', { timeout: 10 * 60_000 }, async () => {
  let host: Host;
  let gate: Gate;
  before(async () => {
    host = await startHost();
    gate = await openGate(host.baseUrl);
  });
  after(async () => {
    await gate?.stop();
    await host?.stop();
  });

  for (const { name, ownHost, prepare } of [...(await findPrograms()), secondClient]) {
    test(name, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), 'interop-'));
      t.after(() => rm(folder, { recursive: true }));
      const before = gate.traffic.exchanges.length;
      const { code, output } = await runToEnd({ cwd: folder, ...(await prepare()), env: through(gate, ownHost ? undefined : host), deadline: 5 * 60_000 });
      assert.deepEqual(gate.traffic.violations, []);
      assert.equal(code, 0, output);
      assert.ok(gate.traffic.exchanges.length > before, 'nothing passed the proxy');
    });
  }

  test('every operation of every surface', () => {
    for (const { name, operationIds } of gate.surfaces) {
      assert.deepEqual(operationIds.filter((id) => !gate.traffic.succeeded(name).has(id)), [], `operations of ${name} that did not pass the proxy`);
    }
  });
});

/** Points a program at the gate: in place of the host, or as an HTTP proxy for one that starts a host of its own. */
function through(gate: Gate, host: Host | undefined): Record<string, string | undefined> {
  return {
    ...(host && environment({ ...host, baseUrl: gate.baseUrl })),
    MONEYMOVEMENT_PROXY: gate.baseUrl,
    NODE_TEST_CONTEXT: undefined, // with it, the tests of a test's child would not run
  };
}

describe('the proxy', { timeout: 60_000 }, () => {
  // Sends the response that the path asks for, so that the proxy has violations to find.
  let answers: Record<string, { status: number; body: unknown }> = {};
  let upstream: Server;
  let gate: Gate;
  before(async () => {
    upstream = await serve(async (request, response) => {
      const { status, body } = answers[request.url!]!;
      response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r' }).end(JSON.stringify(body));
    });
    gate = await openGate(upstream.url);
  });
  after(async () => {
    await gate?.stop();
    upstream?.stop();
  });

  const cases: { name: string; path: string; status: number; body: unknown; request?: RequestInit; want: RegExp | undefined }[] = [
    { name: 'passes an answer as described', path: '/dapi/v1/chains', status: 200, body: { items: [] }, want: undefined },
    { name: 'finds a field that is missing', path: '/dapi/v1/chains', status: 200, body: {}, want: /response\.body: .*required property 'items'/ },
    {
      name: 'finds a decimal that is no decimal',
      path: '/dapi/v1/sandbox/treasury',
      status: 200,
      body: { maxCredit: '+-.', balances: [], gas: '1.5' },
      want: /response\.body\.maxCredit: .*pattern/,
    },
    { name: 'finds a refusal without its envelope', path: '/dapi/v1/chains', status: 500, body: { message: 'No.' }, want: /required property 'error'/ },
    {
      name: 'finds a wrong request that was accepted',
      path: '/dapi/v1/sandbox/deposits',
      status: 201,
      body: { id: 'tx_1', type: 'deposit', direction: 'in', amount: '1', currency: 'USDC', status: 'completed', createdAt: '2026-01-01T00:00:00Z' },
      request: { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ amount: 1, currency: 'USDC' }) },
      want: /request\.body\.amount: .*string/,
    },
    {
      name: 'lets a wrong request be refused',
      path: '/dapi/v1/sandbox/deposits',
      status: 422,
      body: { error: { code: 'validation_failed', message: 'No.' } },
      request: { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ amount: 1, currency: 'USDC' }) },
      want: undefined,
    },
    { name: 'finds an operation that is not described', path: '/dapi/v1/secrets', status: 200, body: {}, want: /route not found/i },
  ];
  for (const { name, path, status, body, request, want } of cases) {
    test(name, async () => {
      answers = { [path]: { status, body } };
      gate.traffic.exchanges.length = 0;
      const answer = await fetch(gate.baseUrl + path, { ...request, headers: { ...request?.headers, authorization: 'Bearer t' } });
      assert.equal(answer.status, status);
      assert.deepEqual(await answer.json(), body);
      assert.equal(gate.traffic.violations.length, want ? 1 : 0, gate.traffic.violations.join('\n'));
      if (want) assert.match(gate.traffic.violations[0]!, want);
    });
  }
});
