import type { WireName } from "../src/wires/wire.ts";
import { assert, assertEquals } from "./support/assert.ts";
import { testGateway } from "./support/gateway.ts";
import { type GoldenCase, goldenCases, withCrlf } from "./support/golden.ts";
import { assertSent, goldenConfig, type GoldenSent, goldenWorld } from "./support/golden_world.ts";

/** One folder each: what the client speaks, and the protocol of the upstream. */
const FOLDERS = {
  chat_over_compat: "compat",
  chat_over_messages: "messages",
  chat_over_local: "local",
  chat_over_responses: "responses",
  responses_over_compat: "compat",
  responses_over_messages: "messages",
  responses_over_local: "local",
  responses_native: "responses",
  messages_over_compat: "compat",
  messages_over_local: "local",
  messages_over_messages: "messages",
  messages_over_responses: "responses",
} as const;

async function play(one: GoldenCase, wire: WireName, body: string, size: number): Promise<void> {
  const seen: GoldenSent[] = [];
  const world = goldenWorld(one.upstreamAnswer, body, size, seen);
  const gateway = testGateway(goldenConfig(wire), world);
  const answer = await gateway.app(
    new Request(`http://gateway.test${one.clientRequest.path}`, {
      method: one.clientRequest.method,
      headers: one.clientRequest.headers,
      body: one.clientRequest.body,
    }),
  );
  const text = await answer.text();
  assertSent(one, seen);
  assertEquals(answer.status, one.clientAnswer.status);
  assertEquals(answer.headers.get("content-type"), one.clientAnswer.headers["content-type"] ?? "");
  // A record that is relayed untouched keeps its line ends.
  assertEquals(text.replaceAll("\r\n", "\n"), one.clientAnswer.body);
}

for (const [folder, wire] of Object.entries(FOLDERS)) {
  const cases = goldenCases(new URL(`golden/${folder}`, import.meta.url).pathname);

  Deno.test(`${folder} has golden cases`, () => assert(cases.length > 0));

  for (const one of cases) {
    Deno.test(`${folder}: ${one.name}, read in pieces and at once`, async () => {
      const { body, headers } = one.upstreamAnswer;
      const isWhole = headers["content-type"] === "application/json";
      // A whole body is joined before anything reads it. Records are framed as they arrive: a byte
      // at a time with one line end, in pieces of 7 with the other one.
      if (!isWhole) await play(one, wire, body, 1);
      await play(one, wire, isWhole ? body : withCrlf(body), 7);
      await play(one, wire, body, Math.max(1, body.length * 3));
    });
  }
}
