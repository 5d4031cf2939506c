/** One thing that Prism found, as it says it in the header sl-violations. */
export interface Violation {
  /** Such as request, body, amount. */
  location: string[];
  message: string;
}

/** One call that passed through a validating proxy. */
export interface Exchange {
  surface: string;
  method: string;
  /** Without the query. */
  path: string;
  /** Of the description; absent when it has no such operation. */
  operationId: string | undefined;
  status: number;
  violations: Violation[];
}

/**
 * Returns what is wrong with an exchange. A response must always be as described. A request must be as described if it was
 * accepted. Violations in a refused request do not count: the host has found them as well.
 */
export function findings({ status, violations }: Exchange): Violation[] {
  const refused = status >= 400;
  return violations.filter(({ location }) => !(refused && location[0] === 'request'));
}

/** One line for people. */
export function describeFinding(exchange: Exchange): string {
  const { surface, method, path, status } = exchange;
  const found = findings(exchange).map(({ location, message }) => `${location.join('.')}: ${message}`);
  return `${surface} ${method} ${path} answered ${status}: ${found.join('; ')}`;
}

/** All exchanges so far. */
export class Traffic {
  readonly exchanges: Exchange[] = [];

  /** The exchanges with something wrong, a line each, without repetitions. */
  get violations(): string[] {
    return [...new Set(this.exchanges.filter((exchange) => findings(exchange).length > 0).map(describeFinding))];
  }

  /** The operations of a surface that succeeded at least once. */
  succeeded(surface: string): Set<string> {
    const done = this.exchanges.filter((exchange) => exchange.surface === surface && exchange.status < 400);
    return new Set(done.flatMap(({ operationId }) => operationId ?? []));
  }
}
