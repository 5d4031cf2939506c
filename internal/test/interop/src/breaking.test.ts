import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runToEnd } from './child.js';
import { breakingCheck, repository } from './paths.js';

const edits: { name: string; file: string; from: string | RegExp; to: string; breaks: RegExp | undefined }[] = [
  { name: 'nothing', file: 'dapi.yaml', from: 'Platform API', to: 'Platform API', breaks: undefined },
  { name: 'words', file: 'dapi.yaml', from: 'List the live chains', to: 'Lists all live chains', breaks: undefined },
  { name: 'a path that is gone', file: 'dapi.yaml', from: '\n  /chains:', to: '\n  /blockchains:', breaks: /GET \/chains api path removed/ },
  { name: 'a field that becomes required', file: 'dapi.yaml', from: 'required: [amount, currency, payee]', to: 'required: [amount, currency, payee, memo]', breaks: /`memo` became required/ },
  { name: 'a request field that is gone, where unknown ones are refused', file: 'dapi.yaml', from: /\n +approveWithin:(\n {10,}.*)*/, to: '', breaks: /removed the request property `approveWithin`/ },
  { name: 'another type behind a wrapper', file: 'common.yaml', from: 'Decimal:\n      type: string', to: 'Decimal:\n      type: number', breaks: /POST \/payouts .*`amount`.*type/ },
  { name: 'a value that requests can no longer carry', file: 'dapi.yaml', from: 'enum: [USDC, EURC]', to: 'enum: [USDC]', breaks: /enum value `EURC`/ },
  { name: 'a value that answers may carry from now on', file: 'dapi.yaml', from: 'enum: [in, out]', to: 'enum: [in, out, sideways]', breaks: undefined },
  { name: 'a shared schema, through the surfaces that use it', file: 'common.yaml', from: /\n +invoiceNumber:(\n {10,}.*)*/, to: '', breaks: /invoiceNumber/ },
];

describe('the guard against breaking edits', { timeout: 120_000 }, () => {
  for (const { name, file, from, to, breaks } of edits) {
    test(`${breaks ? 'finds' : 'allows'} ${name}`, async (t) => {
      const copy = await mkdtemp(join(tmpdir(), 'descriptions-'));
      t.after(() => rm(copy, { recursive: true }));
      await cp(join(repository, 'openapi'), copy, { recursive: true });
      const text = await readFile(join(copy, file), 'utf8');
      const edited = text.replace(from, to);
      assert.ok(breaks === undefined || edited !== text, 'the edit found nothing to change');
      await writeFile(join(copy, file), edited);

      const { code, output } = await runToEnd({ command: breakingCheck, args: [copy], deadline: 60_000 });
      if (breaks) assert.match(output, breaks);
      assert.equal(code, breaks ? 1 : 0, output);
    });
  }
});
