import { openSockets } from "../../src/runtime/sockets.ts";

// Every gateway that listens loads the C library, and every client with connections does. While
// somebody holds it that takes nothing: here each test file does.

let held = openSockets();

function release(): void {
  if (held.kind === "open") held.sockets.close();
}

/** Hides the C library, as on systems where the sockets of the process cannot be reached. */
export function withoutSockets(): Disposable {
  const { dlopen } = Deno;
  release();
  Deno.dlopen = () => {
    throw new Error("no library");
  };
  return {
    [Symbol.dispose]() {
      Deno.dlopen = dlopen;
      held = openSockets();
    },
  };
}
