import { onDisconnect } from "../../src/runtime/listener_request.ts";
import { assertEquals } from "../support/assert.ts";
import { NOTICES_EARLY_LEAVE } from "../support/runtime.ts";

/**
 * Serves one request that is never answered while `client` waits. Resolves when its end is
 * reported.
 */
async function watched(size: number, prepare: (request: Request) => void): Promise<void> {
  const arrived = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const client = new AbortController();
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      prepare(request);
      onDisconnect(request, left.resolve);
      await request.bytes();
      arrived.resolve();
      await left.promise;
      return new Response();
    },
  );
  const url = `http://127.0.0.1:${server.addr.port}/`;
  const response = fetch(url, { method: "POST", body: "x".repeat(size), signal: client.signal });
  const outcome = response.then(() => "answered", () => "left");
  await arrived.promise;
  client.abort();
  assertEquals(await outcome, "left");
  await left.promise;
}

/** Bytes of requests whose client is reported by this runtime. */
const SIZES = NOTICES_EARLY_LEAVE ? [1, 1_000, 200_000] : [1];

for (const size of SIZES) {
  Deno.test(`a client that leaves after ${size} bytes is reported without the signal of its request`, async () => {
    await watched(size, (request) => {
      Object.defineProperty(request, "signal", {
        get() {
          throw new Error("the signal of a request costs two exceptions");
        },
      });
    });
  });
}

Deno.test("a client that leaves is reported by the signal if the runtime has no other way", async () => {
  await watched(1, (request) => {
    for (const symbol of Object.getOwnPropertySymbols(request)) {
      if (symbol.description !== "request") continue;
      const inner: unknown = Reflect.get(request, symbol);
      if (typeof inner !== "object" || inner === null) continue;
      // The signal itself needs the method: it is hidden only from the search.
      Object.defineProperty(request, symbol, { value: new Proxy(inner, HIDDEN) });
    }
  });
});

const HIDDEN: ProxyHandler<object> = {
  has: () => false,
  get(target, key) {
    const member: unknown = Reflect.get(target, key);
    return typeof member === "function" ? member.bind(target) : member;
  },
};

Deno.test("a request of this process is reported by its signal", () => {
  const client = new AbortController();
  const reports: string[] = [];
  const request = new Request("http://a.example/", { signal: client.signal });
  onDisconnect(request, () => reports.push("left"));
  assertEquals(reports, []);
  client.abort();
  assertEquals(reports, ["left"]);
});
