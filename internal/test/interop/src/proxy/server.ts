import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on a free port of loopback. */
export interface Server {
  url: string;
  stop(): void;
}

/** Serves until it is stopped. A connection whose handler fails is cut, so that the caller sees a lost answer. */
export async function serve(handle: (request: http.IncomingMessage, response: http.ServerResponse) => Promise<void>): Promise<Server> {
  const server = http.createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
