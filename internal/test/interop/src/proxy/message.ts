import http from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A request as it came, read to its end. */
export interface Request {
  method: string;
  url: string;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

/** An answer as it came, read to its end. */
export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

export async function readRequest(request: http.IncomingMessage): Promise<Request> {
  return { method: request.method!, url: request.url!, headers: request.headers, body: await buffer(request) };
}

/** Sends a request on to a server, as it came but for the headers named. Fails when no whole answer comes. */
export function send(to: URL, { method, headers, body }: Request, agent: http.Agent, added: http.OutgoingHttpHeaders = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = http.request(to, {
      method,
      agent,
      headers: { ...endToEnd(headers), host: to.host, ...added },
      timeout: 30_000,
      maxHeaderSize: 1 << 20, // long lists of violations travel in a header
    });
    sent.once('response', (response) => {
      buffer(response).then((body) => resolve({ status: response.statusCode!, headers: response.headers, body }), reject);
    });
    sent.once('timeout', () => sent.destroy(new Error('no answer within 30 seconds')));
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Writes an answer, as it came. */
export function write(to: http.ServerResponse, { status, headers, body }: Answer): void {
  to.writeHead(status, endToEnd(headers)).end(body);
}

// These headers belong to one connection, or are written again for the next one.
const hopByHop = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'content-length'];

function endToEnd(headers: http.IncomingHttpHeaders): http.IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name)));
}
