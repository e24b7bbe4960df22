import { openSockets } from "../../src/runtime/sockets.ts";

// Every gateway that listens loads the C library, and every client with connections does, which
// takes milliseconds. While somebody holds the library nothing is loaded: here each test file does.

let held = openSockets();

/** Does not hold the C library, so that whether it can be loaded depends on the test alone. */
export function releasedSockets(): Disposable {
  if (held.kind === "unavailable") return { [Symbol.dispose]() {} };
  held.sockets.close();
  return { [Symbol.dispose]: () => void (held = openSockets()) };
}
