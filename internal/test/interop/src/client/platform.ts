import createClient, { type Client, type Middleware } from 'openapi-fetch';
import type { components, paths } from '../wire/dapi.js';
import { checkChallenge } from './approval.js';
import type { DeveloperKey } from './signature.js';

export type Schemas = components['schemas'];
export type Platform = Client<paths>;

/** Answers a client without a credential. */
export function connect(baseUrl: string): Platform {
  return createClient<paths>({ baseUrl: `${baseUrl}/dapi/v1` });
}

/** Logs in with a developer key and answers a client with its session. */
export async function logIn(baseUrl: string, email: string, key: DeveloperKey): Promise<Platform> {
  const platform = connect(baseUrl);
  const requestExpiry = new Date(Date.now() + 60_000).toISOString();
  const challenge = ok(await platform.POST('/auth/challenge', { body: { email, requestExpiry } }));
  const { challengeId } = challenge;
  const payload = checkChallenge(challenge, email);
  const grant = ok(await platform.POST('/auth/token', { body: { challengeId, publicKey: key.publicKey, signature: key.sign(payload) } }));
  const session: Middleware = {
    onRequest({ request }) {
      request.headers.set('Authorization', `${grant.tokenType} ${grant.accessToken}`);
      return request;
    },
  };
  platform.use(session);
  return platform;
}

/** What a call answers: the value of a success, or the envelope of a refusal. */
interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Answers the value of a success and fails on a refusal. */
export function ok<T>({ data, error, response }: Answer<T>): T {
  if (data === undefined) throw new Error(`${response.status} ${JSON.stringify(error)}`);
  return data;
}

/** Answers the status and the slug of a refusal, such as `409 conflict`, and fails on a success. */
export function refusal({ data, error, response }: Answer<unknown>): string {
  if (data !== undefined) throw new Error(`accepted with ${response.status}`);
  return `${response.status} ${(error as Schemas['ErrorEnvelope']).error.code}`;
}
