import { readFile } from 'node:fs/promises';
import { bundle } from '../paths.js';

/** One of the four descriptions, and which paths of a host it describes. */
export interface Surface {
  name: string;
  /** In front of every path of the description. */
  base: string;
  /** Says whether a path of the host belongs to it. */
  owns(path: string): boolean;
  /** Answers the operation that a method and a path without its base mean. */
  operation(method: string, path: string): string | undefined;
  operationIds: string[];
}

// The order matters: a path that no other surface owns belongs to the app API, whose paths have no common prefix.
const layout = [
  { name: 'dapi', base: '/dapi/v1', prefixes: ['/dapi/v1/'] },
  { name: 'refapi', base: '', prefixes: ['/api/v1/'] },
  { name: 'public', base: '', prefixes: ['/utils/', '/public/'] },
  { name: 'appapi', base: '', prefixes: ['/'] },
];

interface Description {
  paths: Record<string, Record<string, { operationId?: string }>>;
}

/** Reads the bundled descriptions. */
export function readSurfaces(): Promise<Surface[]> {
  return Promise.all(
    layout.map(async ({ name, base, prefixes }) => {
      const { paths } = JSON.parse(await readFile(bundle(name), 'utf8')) as Description;
      const operations = Object.entries(paths).flatMap(([template, item]) =>
        Object.entries(item).flatMap(([method, { operationId }]) => (operationId ? { method: method.toUpperCase(), template, operationId } : [])),
      );
      // If two templates match, the one with literal text further left wins.
      operations.sort((a, b) => (literalFirst(a.template) < literalFirst(b.template) ? -1 : 1));
      return {
        name,
        base,
        owns: (path: string) => prefixes.some((prefix) => path.startsWith(prefix)),
        operation: (method: string, path: string) =>
          operations.find((operation) => operation.method === method && matcher(operation.template).test(path))?.operationId,
        operationIds: operations.map(({ operationId }) => operationId),
      };
    }),
  );
}

function literalFirst(template: string): string {
  return template
    .split('/')
    .map((segment) => (segment.startsWith('{') ? '1' : '0'))
    .join('');
}

function matcher(template: string): RegExp {
  const source = template.split(/\{[^}]*\}/).map((literal) => literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${source.join('[^/]+')}$`);
}
