import { Child } from './child.js';
import { moneymove } from './paths.js';

/** A sandbox host on loopback, with what its callers need. */
export interface Host {
  baseUrl: string;
  email: string;
  /** PKCS #8 PEM file of the account's developer key. */
  keyFile: string;
  /** Credential of the app API. */
  apiKey: string;
  /** Credential of the reference endpoints. */
  accessToken: string;
  /** PKCS #8 PEM file of the wallet that cards spend from. */
  walletKeyFile: string;
  stop(): Promise<void>;
}

/** Starts a host on a free port and answers once it serves. */
export async function startHost(): Promise<Host> {
  const child = new Child({
    command: moneymove,
    args: ['sandbox', '-addr', '127.0.0.1:0', '-o', 'json'],
    deadline: 10 * 60_000,
  });
  const announced = await child.line((line): Omit<Host, 'stop'> | undefined => (line.startsWith('{') ? JSON.parse(line) : undefined));
  return { ...announced, stop: () => child.stop() };
}

/** What tells a program which host to use; the SDK's examples and contract suite read the same. */
export function environment(host: Host): Record<string, string> {
  return {
    MONEYMOVEMENT_BASE_URL: host.baseUrl,
    MONEYMOVEMENT_EMAIL: host.email,
    MONEYMOVEMENT_KEY_FILE: host.keyFile,
    MONEYMOVEMENT_API_KEY: host.apiKey,
    MONEYMOVEMENT_ACCESS_TOKEN: host.accessToken,
    MONEYMOVEMENT_WALLET_KEY_FILE: host.walletKeyFile,
  };
}

/** Answers the host that the environment names, or else starts one. */
export async function findHost(): Promise<Host> {
  const named = (name: string) => process.env[`MONEYMOVEMENT_${name}`] ?? '';
  if (!named('BASE_URL')) return startHost();
  return {
    baseUrl: named('BASE_URL'),
    email: named('EMAIL'),
    keyFile: named('KEY_FILE'),
    apiKey: named('API_KEY'),
    accessToken: named('ACCESS_TOKEN'),
    walletKeyFile: named('WALLET_KEY_FILE'),
    stop: async () => {},
  };
}
