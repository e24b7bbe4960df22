import manifest from "../../deno.json" with { type: "json" };

/**
 * The permissions that the program is run and compiled with: those of the task `demo`, and the right to
 * write files, which the program gives up when its state store is open.
 */
export const PERMISSIONS: readonly string[] = [
  ...manifest.tasks.demo.split(" ").filter((word) => /^--(allow|no-prompt)/.test(word)),
  "--allow-write",
];

/**
 * The permissions without foreign functions (FFI): with them, native code can do whatever
 * the process may, so that the rest restricts only JavaScript.
 */
export const PERMISSIONS_WITHOUT_FFI: readonly string[] = PERMISSIONS
  .filter((word) => !word.startsWith("--allow-ffi"));
