import { Cancellation } from "../../src/core/cancellation.ts";
import { newRealWorld } from "../../src/world/real_world.ts";
import { postOnce, type PostResult } from "../../src/remote/post.ts";
import { assertEquals } from "../support/assert.ts";
import { type Line, openLine } from "../support/line.ts";
import { readRequest } from "../support/received_request.ts";
import { startUpstream } from "../support/upstream.ts";

/** A server that answers the first request of each connection and hangs up on the second. */
function forgetful() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const bodies: string[] = [];
  const lines: Line[] = [];
  const accepting = accept();

  async function accept() {
    for await (const connection of listener) {
      const line = openLine(connection);
      lines.push(line);
      void serve(line);
    }
  }

  async function serve(line: Line) {
    for (let count = 1;; count++) {
      const request = await readRequest(line.read);
      if (request === null) return line.close();
      bodies.push(request.body);
      if (count > 1) return line.close();
      await line.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
    }
  }

  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    bodies,
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      for (const line of lines) line.close();
      await Promise.all(lines.map((line) => line.quiet()));
    },
  };
}

async function posted(url: string, bodies: readonly string[]): Promise<PostResult[]> {
  const world = newRealWorld();
  const found: PostResult[] = [];
  for (const text of bodies) {
    const request = { url, headers: { "x-a": "b" }, body: new TextEncoder().encode(text) };
    const cut = new Cancellation();
    found.push(await postOnce(request, { world, timeoutMs: 10_000, cut }));
  }
  world.close();
  return found;
}

Deno.test("a POST is sent once, also if the peer has closed its connection", async () => {
  await using server = forgetful();
  const taken = { kind: "taken", text: "ok" },
    failed = { kind: "failed", reason: "no connection: closed" };
  const found = await posted(server.url, ["one", "two", "three", "four"]);
  assertEquals<unknown>(found, [taken, failed, taken, failed]);
  assertEquals(server.bodies, ["one", "two", "three", "four"]);
});

Deno.test("a POST that cannot be sent reports the reason without the address", async () => {
  assertEquals(await posted("http://127.0.0.1:1/collector", ["x"]), [
    { kind: "failed", reason: "no connection: refused" },
  ]);
  assertEquals(await posted("http://no-such-host.invalid/", ["x"]), [
    { kind: "failed", reason: "no connection: dns" },
  ]);
});

Deno.test("a redirect is not followed by a POST", async () => {
  await using server = startUpstream((exchange) =>
    exchange.answer(307, { location: `${server.url}/other` }, "")
  );
  assertEquals(await posted(server.url, ["x"]), [{ kind: "refused", reason: "status 307" }]);
  assertEquals(server.requests.map(({ path }) => path), ["/"]);
});
