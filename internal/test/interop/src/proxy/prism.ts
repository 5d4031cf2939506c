import { join } from 'node:path';
import { Child } from '../child.js';
import { bin, bundle } from '../paths.js';

/** A validating proxy in front of one surface. */
export interface Prism {
  /** Where it listens. Paths are those of the description, without the base path of its server. */
  url: URL;
  stop(): Promise<void>;
}

/**
 * Starts Prism as a validating proxy. It forwards everything. The header sl-violations of each response says in what the
 * request and the response differ from the description.
 */
export async function startPrism(surface: string, upstream: string): Promise<Prism> {
  const child = new Child({
    command: join(bin, 'prism'),
    args: ['proxy', bundle(surface), upstream, '--host', '127.0.0.1', '--port', '0'],
    env: { NO_COLOR: '1' },
    deadline: 10 * 60_000,
  });
  const url = await child.line((line) => /Prism is listening on (\S+)/.exec(line)?.[1]);
  return { url: new URL(url), stop: () => child.stop() };
}
