import { Cancellation } from "../../src/core/cancellation.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { postOnce, type PostResult } from "../../src/remote/post.ts";
import { assertEquals } from "../support/assert.ts";
import { oneResponseServer } from "../support/one_response_server.ts";
import { startUpstream } from "../support/upstream.ts";

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
  await using server = oneResponseServer("ok");
  const accepted = { kind: "accepted", text: "ok" },
    failed = { kind: "failed", reason: "no connection: closed" };
  const found = await posted(server.url, ["one", "two", "three", "four"]);
  assertEquals<unknown>(found, [accepted, failed, accepted, failed]);
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
