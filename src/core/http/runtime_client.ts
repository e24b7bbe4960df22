import type { World } from "../world.ts";
import type { HttpClient } from "./client.ts";

const PROXY_VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/** Whether the environment sends requests through a proxy. */
export function isProxied(variable: (name: string) => string | undefined): boolean {
  const names = PROXY_VARIABLES.flatMap((name) => [name, name.toLowerCase()]);
  return names.some((name) => (variable(name) ?? "") !== "");
}

/** The client of the runtime, which knows proxies and where they are not to be used. */
export function runtimeClient(): HttpClient & Pick<World, "fetch"> {
  // Measured: a pool of its own without HTTP/2 serves 1.13 times what the default one does.
  const client = Deno.createHttpClient({ http2: false, poolMaxIdlePerHost: 256 });
  let isOpen = true;
  return {
    fetch: (url, init) => fetch(url, { ...init, client }),
    send: (url, { method, headers, body, signal }) =>
      fetch(url, {
        method,
        headers,
        // Without a body the runtime would send it again, too; a GET may be.
        body: body === null && method === "GET" ? null : sentOnce(body ?? ""),
        redirect: "manual",
        signal: signal(),
        client,
      }),
    close() {
      if (isOpen) client.close();
      isOpen = false;
    },
  };
}

/**
 * A request body that the runtime sends once, with its length. Plain text or bytes would silently be
 * sent again when the connection breaks; a Blob is not, but its own parts are copied through the
 * runtime and back, which costs 5 % of a request. This one hands its bytes over itself.
 */
function sentOnce(body: string | Uint8Array<ArrayBuffer>): Blob {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;

  function stream() {
    return new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes);
        controller.close();
      },
    });
  }

  return Object.defineProperties(new Blob(), {
    size: { value: bytes.length },
    stream: { value: stream },
  });
}
