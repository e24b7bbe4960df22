import { openSockets } from "../../src/runtime/sockets.ts";
import { setListenerOptions } from "../../src/runtime/find_sockets.ts";

/**
 * Serves on a free loopback port with TCP_NODELAY and prints the port as the first line of stdout.
 * The process exits when its stdin closes, so it cannot outlive the benchmark.
 */
export function serveUntilStdinEnds(handler: (request: Request) => Response | Promise<Response>) {
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen(address) {
      const opened = openSockets();
      if (opened.kind === "open") setListenerOptions(opened.sockets, address, true);
      else console.error(`TCP_NODELAY is not set: ${opened.reason}`);
      console.log(address.port);
    },
  }, handler);
  void endWithStdin();
}

async function endWithStdin() {
  for await (const _bytes of Deno.stdin.readable);
  Deno.exit(0);
}
