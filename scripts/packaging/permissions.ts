import manifest from "../../deno.json" with { type: "json" };
import { OWN_PROGRAM } from "../../src/workers/process.ts";

/**
 * The permissions that the program is run and compiled with: those of the task `demo`, and two that
 * the program gives up: the right to write files, when its state store is open, and the right to
 * start itself, unless it is the parent of workers.
 */
export const PERMISSIONS: readonly string[] = [
  ...manifest.tasks.demo.split(" ").filter((word) => /^--(allow|no-prompt)/.test(word)),
  "--allow-write",
  `--allow-run=${OWN_PROGRAM}`,
];

/**
 * The permissions without foreign functions (FFI): with them, native code can do whatever
 * the process may, so that the rest restricts only JavaScript.
 */
export const PERMISSIONS_WITHOUT_FFI: readonly string[] = PERMISSIONS
  .filter((word) => !word.startsWith("--allow-ffi"));
