import { isObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { streamOf } from "../support/pieces.ts";
import { scriptedWorld } from "../support/world.ts";
import { callChat, plainConfig } from "./chat_call.ts";
import { finish, HELLO, sse } from "./streamed.ts";

async function logged(text: string) {
  const headers = { "content-type": "text/event-stream" };
  const body = streamOf([new TextEncoder().encode(text)]);
  const gateway = testGateway(
    plainConfig("compat", "http://upstream.test"),
    scriptedWorld({ fetch: () => Promise.resolve(new Response(body, { headers })) }),
  );
  const sent = await (await callChat(gateway, { stream: true })).text();
  const lines = gateway.log.map(parseJson).filter(isObject);
  return { sent, lines: lines.filter(({ msg }) => msg === "stream broke off") };
}

Deno.test("the error text of a stream that the upstream breaks off may contain a prompt and is not logged", async () => {
  const error = { message: "worker 7 has failed for sk-upstream-secret" };
  const { sent, lines } = await logged(sse(HELLO, { error }));
  assert(!sent.includes("worker 7"), sent);
  assert(!JSON.stringify(lines).includes("worker 7"));
  assertEquals(lines.map(({ level, reason }) => [level, reason]), [
    ["warn", "The provider responded with an error."],
  ]);
});

Deno.test("the log says why a stream broke off", async () => {
  const { lines } = await logged(sse(HELLO));
  assertEquals(lines.map(({ provider, reason }) => [provider, reason]), [
    ["up", "The provider's stream ended before the response was finished."],
  ]);
});

Deno.test("a complete stream logs no reason of a break", async () => {
  assertEquals((await logged(sse(HELLO, finish(), "[DONE]"))).lines, []);
});
