import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runToEnd, type Start } from '../child.js';
import { build, repository } from '../paths.js';

/** A program that its environment can point at a host. */
export interface Program {
  name: string;
  /** It brings its own host, which it controls, and needs the proxy only. */
  ownHost?: boolean;
  /** Builds it and answers how it is started; it runs in an empty folder unless it says where. */
  prepare(): Promise<Pick<Start, 'command' | 'args' | 'cwd'>>;
}

const contract = 'internal/test/contract';
const frame = 'github.com/moneymovement/moneymovement-go/examples/internal/program';

/** Finds every example that can run against a host, and the contract suite where there is one. */
export async function findPrograms(): Promise<Program[]> {
  const format = '{{if eq .Name "main"}}{{.ImportPath}} {{join .Deps ","}}{{end}}';
  const packages = (await go('list', '-f', format, './examples/...')).trim().split('\n');
  const examples = packages
    .map((line) => line.split(' ') as [path: string, dependencies: string])
    .filter(([, dependencies]) => dependencies.split(',').includes(frame))
    .map(([path]) => example(path));
  return existsSync(join(repository, contract)) ? [...examples, contractSuite] : examples;
}

function example(path: string): Program {
  const name = path.split('/').at(-1)!;
  const command = join(build, 'programs', name);
  return {
    name: `examples/${name}`,
    prepare: async () => {
      await go('build', '-o', command, path);
      return { command, args: [] };
    },
  };
}

// The suite starts its own host: with the address of a host, it would skip the cases that change the host's state.
const contractSuite: Program = {
  name: contract,
  ownHost: true,
  prepare: async () => {
    const command = join(build, 'programs', 'contract.test');
    await go('test', '-c', '-o', command, `./${contract}`);
    return { command, args: ['-test.timeout=4m'], cwd: join(repository, contract) };
  },
};

/** The client of the folder beside, started as its tests start. */
export const secondClient: Program = {
  name: 'the second client',
  prepare: async () => ({ command: process.execPath, args: [join(build, 'js', 'client', 'client.test.js')] }),
};

/** Runs the go command in the repository and answers what it printed. */
async function go(...args: string[]): Promise<string> {
  const { code, output } = await runToEnd({ command: process.env.GO ?? 'go', args, cwd: repository, deadline: 5 * 60_000 });
  if (code !== 0) throw new Error(`go ${args.join(' ')}:\n${output}`);
  return output;
}
