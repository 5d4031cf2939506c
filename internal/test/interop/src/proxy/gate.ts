import http from 'node:http';
import { type Answer, readRequest, send, write } from './message.js';
import { type Prism, startPrism } from './prism.js';
import { type Call, openRelay } from './relay.js';
import { serve } from './server.js';
import { readSurfaces, type Surface } from './surface.js';
import { Traffic, type Violation } from './traffic.js';

/** One address with a validating proxy for each surface behind it. */
export interface Gate {
  /** Stands for the host, and is an HTTP proxy to any other host on loopback. */
  baseUrl: string;
  surfaces: Surface[];
  traffic: Traffic;
  stop(): Promise<void>;
}

/** Opens a gate in front of a host. */
export async function openGate(host: string): Promise<Gate> {
  const surfaces = await readSurfaces();
  const relay = await openRelay();
  const prisms = new Map<Surface, Prism>();
  await Promise.all(surfaces.map(async (surface) => prisms.set(surface, await startPrism(surface.name, relay.url))));
  const traffic = new Traffic();
  const agent = new http.Agent({ keepAlive: true });

  const server = await serve(async (incoming, response) => {
    const request = await readRequest(incoming);
    const upstream = new URL(request.url, host); // a proxy is asked for the whole address
    if (!loopback.includes(upstream.hostname)) throw new Error('not on this machine');
    const surface = surfaces.find((surface) => surface.owns(upstream.pathname))!;
    const described = upstream.pathname.slice(surface.base.length);
    const call: Call = { upstream, request };
    const judged = await send(new URL(described + upstream.search, prisms.get(surface)!.url), request, agent, relay.expect(call)).catch(() => undefined);
    const answer = await relay.deliver(call);
    if (answer === 'lost') throw new Error('the host did not answer'); // nor is there anything to judge
    traffic.exchanges.push({
      surface: surface.name,
      operationId: surface.operation(request.method, described),
      method: request.method,
      path: upstream.pathname,
      status: answer.status,
      violations: violations(judged),
    });
    write(response, answer);
  });
  return {
    baseUrl: server.url,
    surfaces,
    traffic,
    stop: async () => {
      agent.destroy();
      server.stop();
      relay.stop();
      await Promise.all([...prisms.values()].map((prism) => prism.stop()));
    },
  };
}

const loopback = ['127.0.0.1', 'localhost', '[::1]'];

/** Reads what the proxy says; an answer of its own making says that it could not read one of the messages. */
function violations(judged: Answer | undefined): Violation[] {
  if (!judged || judged.headers['content-type']?.startsWith('application/problem+json')) {
    return [{ location: ['proxy'], message: judged?.body.toString() ?? 'the proxy gave no answer' }];
  }
  return JSON.parse([judged.headers['sl-violations'] ?? '[]'].flat().join());
}
