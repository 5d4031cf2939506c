import { join } from 'node:path';

// Compiled files are in build/js, so the folder of these checks is two above.
const interop = join(import.meta.dirname, '..', '..');

/** The root of the repository. */
export const repository = join(interop, '..', '..', '..');
/** What one run makes; nothing in it is kept in git. */
export const build = join(interop, 'build');
/** The sandbox host's program, built by `run`. */
export const moneymove = join(build, 'moneymove');
/** The programs that npm installed. */
export const bin = join(interop, 'node_modules', '.bin');
/** The guard against breaking edits. */
export const breakingCheck = join(interop, 'breaking', 'check');
/** One file a surface, without references to other files; made by `run`. */
export const bundle = (surface: string) => join(build, 'bundles', `${surface}.json`);
