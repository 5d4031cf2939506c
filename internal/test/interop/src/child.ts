import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** How a child process is started: everything that is bounded about it is said here. */
export interface Start {
  command: string;
  args: string[];
  cwd?: string;
  /** Added to this process's environment; undefined removes. */
  env?: Record<string, string | undefined>;
  /** After this many milliseconds the child is ended by force. */
  deadline: number;
}

/** A process that has ended. */
export interface Ended {
  code: number | null;
  /** Standard output and standard error, in the order in which they came. */
  output: string;
}

// Children must not outlive this process, however it ends.
const running = new Set<ChildProcess>();
const endAll = () => running.forEach((child) => child.kill('SIGKILL'));
process.once('exit', endAll);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** A process that runs. Ends it with `stop`, or waits for its own end with `ended`. */
export class Child {
  readonly ended: Promise<Ended>;
  readonly #process: ChildProcess;
  readonly #waiting = new Set<(line: string) => void>();
  #output = '';

  constructor(start: Start) {
    const child = spawn(start.command, start.args, {
      cwd: start.cwd,
      env: { ...process.env, ...start.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    running.add(child);
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.#output += line + '\n';
        this.#waiting.forEach((take) => take(line));
      });
    }
    const deadline = setTimeout(() => child.kill('SIGKILL'), start.deadline);
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, note = '') => {
        clearTimeout(deadline);
        running.delete(child);
        resolve({ code, output: this.#output + note });
      };
      child.once('error', (error) => end(null, error.message));
      child.once('close', (code, signal) => end(code, signal ? `ended by ${signal}\n` : ''));
    });
  }

  /** Answers the first line from now on for which `read` answers something; fails when the process ends before. */
  async line<T>(read: (line: string) => T | undefined): Promise<T> {
    let take: ((line: string) => void) | undefined;
    const found = new Promise<T>((resolve, reject) => {
      take = (line) => {
        try {
          const value = read(line);
          if (value !== undefined) resolve(value);
        } catch (error) {
          reject(error);
        }
      };
      this.#waiting.add(take);
    });
    const gone = this.ended.then(({ code, output }): never => {
      throw new Error(`${this.#process.spawnfile} ended with ${code} before it was ready:\n${output}`);
    });
    try {
      return await Promise.race([found, gone]);
    } finally {
      if (take) this.#waiting.delete(take);
    }
  }

  /** Asks the process to end and waits until it has. */
  async stop(): Promise<void> {
    this.#process.kill('SIGTERM');
    const force = setTimeout(() => this.#process.kill('SIGKILL'), 5_000);
    await this.ended;
    clearTimeout(force);
  }
}

/** Runs a process to its end. */
export function runToEnd(start: Start): Promise<Ended> {
  return new Child(start).ended;
}
