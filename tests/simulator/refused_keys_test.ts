import { newSimulator } from "../../src/simulator/simulator.ts";
import { assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

const CALLS = [
  ["/v1/chat/completions", "authorization", "Bearer "],
  ["/compat/v1/responses", "authorization", "Bearer "],
  ["/messages/v1/messages", "x-api-key", ""],
  ["/local/api/chat", "authorization", "Bearer "],
] as const;

function request(path: string, header: string, key: string): Request {
  const messages = [{ role: "user", content: "Hi" }];
  const body = { model: "sim-echo", messages, input: "Hi", max_tokens: 9, stream: false };
  const fields = path.endsWith("/responses")
    ? { model: body.model, input: body.input }
    : path.endsWith("/messages")
    ? { model: body.model, messages, max_tokens: 9 }
    : { model: body.model, messages, stream: false };
  const headers = { [header]: key, "anthropic-version": "2023-06-01" };
  return new Request(`http://sim.test${path}`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(fields),
  });
}

Deno.test("a key that begins with refused- and a status is refused with that status on every protocol", async () => {
  const answer = newSimulator(scriptedWorld());
  for (const [path, header, scheme] of CALLS) {
    for (
      const [key, status] of [["refused-401", 401], ["refused-402-b", 402], ["k", 200]] as const
    ) {
      const response = await answer(request(path, header, `${scheme}${key}`));
      await response.body?.cancel();
      assertEquals(response.status, status, `${path} ${key}`);
    }
  }
});

Deno.test("a key is refused from the moment it is added to the refused keys, and no other key is", async () => {
  const refused = new Map<string, number>();
  const answer = newSimulator(scriptedWorld(), refused);
  const statuses = async () =>
    await Promise.all(["a", "b"].map(async (key) => {
      const response = await answer(
        request("/v1/chat/completions", "authorization", `Bearer ${key}`),
      );
      await response.body?.cancel();
      return [response.status, response.headers.get("retry-after")];
    }));
  assertEquals(await statuses(), [[200, null], [200, null]]);
  refused.set("a", 429);
  assertEquals(await statuses(), [[429, "1"], [200, null]]);
  refused.delete("a");
  assertEquals(await statuses(), [[200, null], [200, null]]);
});
