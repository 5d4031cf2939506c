import http from 'node:http';
import { type Answer, type Request, send, write } from './message.js';
import { serve } from './server.js';

/** A call on its way to a host. */
export interface Call {
  /** Of the host. */
  upstream: URL;
  request: Request;
  /** What the host answered, once it has; `lost` when the connection ended before. */
  answer?: Answer | 'lost';
}

/** Stands between the validating proxies and the hosts. */
export interface Relay {
  url: string;
  /** Announces a call and answers the headers by which the relay knows it again behind the proxy. */
  expect(call: Call): http.OutgoingHttpHeaders;
  /** Sends a call to its host, unless that has happened. */
  deliver(call: Call): Promise<Answer | 'lost'>;
  stop(): void;
}

const header = 'x-interop-call';

/**
 * Opens a relay. The validating proxy parses a message and writes it again. That loses digits of numbers, and damages
 * binary bodies. The relay sends the host the caller's original request, and keeps the host's original response. So the
 * proxy checks every message and changes none.
 */
export async function openRelay(): Promise<Relay> {
  const agent = new http.Agent({ keepAlive: false }); // a replay on a connection that died would be a second call
  const calls = new Map<string, Call>();
  let count = 0;

  const deliver = async (call: Call): Promise<Answer | 'lost'> =>
    (call.answer ??= await send(call.upstream, call.request, agent).catch((): 'lost' => 'lost'));

  const server = await serve(async (request, response) => {
    const id = String(request.headers[header]);
    const call = calls.get(id);
    calls.delete(id);
    if (!call) throw new Error('a call that nobody announced');
    const answer = await deliver(call);
    if (answer === 'lost') throw new Error('the host did not answer');
    write(response, answer);
  });
  return {
    url: server.url,
    expect: (call) => {
      calls.set(String(++count), call);
      return { [header]: String(count) };
    },
    deliver,
    stop: () => {
      agent.destroy();
      server.stop();
    },
  };
}
