import { gzipSync } from "node:zlib";
import type { JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got, verdictOf } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { success } from "../../src/core/failure/result.ts";
import { newSseFraming } from "../../src/formats/sse.ts";
import { newRecordReader } from "../../src/upstream/record_reader.ts";
import { checkJson } from "../../src/upstream/json_bounds.ts";
import { nativeConfig, nativeGateway } from "../support/native_gateway.ts";
import { streamOf } from "../support/pieces.ts";
import { scriptedWorld } from "../support/world.ts";

const MIB = 1024 * 1024;
const TOO_LARGE = [502, "upstream_error", "upstream_response_too_large"] as const;

/** A member with more than a million values, which take 50 MB as objects and 2 MB as text. */
const MANY = `"many":[${Array(600_000).fill("[]").join(",")}]`;
const DEEP = `"deep":${"[".repeat(40_000)}${"]".repeat(40_000)}`;
const BAD = { MANY, DEEP } as const;

/** Returns a JSON text of these members and one that is too large to be parsed. */
function withMember(value: JsonObject, member: string): string {
  return `${JSON.stringify(value).slice(0, -1)},${member}}`;
}

interface Provider {
  readonly type: "compat" | "messages" | "local";
  readonly more?: JsonObject;
}

function gatewayOf({ type, more = {} }: Provider, body: string, status = 200, headers = {}) {
  const world = scriptedWorld({ fetch: () => answers(status, body, headers) });
  const config = {
    providers: { up: { type, base_url: "http://up", api_key: "k", ...more } },
    routing: { routes: [{ name: "r", targets: [{ provider: "up" }] }] },
    retry: { enabled: false },
  };
  return testGateway(JSON.stringify(config), world);
}

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
};
const LOCAL = { model: "m", message: { role: "assistant", content: "Hi" }, done: true };

Deno.test("a response whose JSON is too large to be parsed is upstream_response_too_large over every protocol", async () => {
  for (const [name, member] of Object.entries(BAD)) {
    for (
      const [type, value] of [["compat", COMPLETION], ["messages", MESSAGE], [
        "local",
        LOCAL,
      ]] as const
    ) {
      const text = withMember(value, member);
      const app = gatewayOf({ type }, text).app;
      const answer = await got(await app(chatRequest({ body: { max_tokens: 5 } })));
      assertEquals(verdictOf(answer), TOO_LARGE, `${name} ${type}`);
      const record = type === "local" ? `${text}\n` : `event: x\ndata: ${text}\n\n`;
      const streamed = gatewayOf({ type }, record).app;
      const first = await got(
        await streamed(chatRequest({ body: { max_tokens: 5, stream: true } })),
      );
      assertEquals(verdictOf(first), TOO_LARGE, `${name} ${type} record`);
    }
  }
});

Deno.test("a record that is too large to be parsed after the first content breaks its stream", async () => {
  const chunk = JSON.stringify({
    ...COMPLETION,
    choices: [{ index: 0, delta: { content: "Hi" } }],
  });
  const body = `data: ${chunk}\n\ndata: ${withMember({ choices: [] }, MANY)}\n\n`;
  const calls = gatewayOf({ type: "compat" }, body);
  const { text } = await got(await calls.app(chatRequest({ body: { stream: true } })));
  assert(text.includes("Hi") && text.includes('"error"') && !text.includes("many"));
});

Deno.test("JSON is counted when it is decompressed", async () => {
  const packed = gzipSync(withMember(COMPLETION, MANY));
  const world = scriptedWorld({
    fetch: () =>
      Promise.resolve(
        new Response(streamOf([new Uint8Array(packed)]), {
          headers: { "content-encoding": "gzip" },
        }),
      ),
  });
  const config = 'providers: {up: {type: compat, base_url: "http://up"}}\n' +
    "routing: {routes: [{name: r, targets: [{provider: up}]}]}\nretry: {enabled: false}\n";
  const answer = await got(await testGateway(config, world).app(chatRequest()));
  assert(packed.length < 20_000);
  assertEquals(verdictOf(answer), TOO_LARGE);
});

Deno.test("an error body that is too large to be parsed keeps its status", async () => {
  const keys = Array.from({ length: 90_000 }, (_, index) => `"${index.toString(36)}":0`).join(",");
  const text = `{"error":{"message":"Secret."},${keys}}`;
  assert(text.length < MIB);
  const answer = await got(await gatewayOf({ type: "compat" }, text, 400).app(chatRequest()));
  assertEquals([answer.status, answer.error.message], [
    400,
    "The provider responded with status 400.",
  ]);
});

Deno.test("a model list that is too large to be parsed is no list", async () => {
  const more = { models: { mode: "fetch" } };
  for (
    const [text, expected] of [['{"data":[{"id":"m"}]}', ["up/m"]], [
      `{"data":[{"id":"m"}],${MANY}}`,
      [],
    ]] as const
  ) {
    const { app } = gatewayOf({ type: "compat", more }, text);
    const answer = await (await app(new Request("http://localhost/v1/models"))).json();
    assertEquals(answer.data.map(({ id }: { id: string }) => id), expected);
  }
});

Deno.test("objects that a provider stores, and lists of them, are bounded before they are parsed", async () => {
  const calls = nativeGateway(
    nativeConfig({ first: { can: ["relay: [files]"] } })
      .replace("{initial_delay: 1ms, max_attempts: 2}", "{enabled: false}"),
    ({ path }) => ({
      body: withMember(
        path === "/files" ? { object: "list", data: [] } : { id: "upload_1", object: "upload" },
        MANY,
      ),
    }),
  );
  for (
    const answer of [await calls.get("/files"), await calls.post("/uploads", { filename: "x" })]
  ) {
    assertEquals([answer.status, answer.error.code], [502, "upstream_response_too_large"]);
  }
});

Deno.test("each piece of 256 KiB of a large JSON text is scanned in its turn, and a record is parsed in one", async () => {
  const text = new TextEncoder().encode(`["${"x".repeat(MIB)}"]`);
  let turns = 0;
  const turn = () => {
    turns++;
    return turns % 2 === 0 ? null : Promise.resolve();
  };
  assertEquals(await checkJson(text, turn), { ok: true, value: null });
  assertEquals(turns, 5);
  // A record of a stream, which is as large, in the turns of its body.
  const bytes = new TextEncoder().encode(`data: ["${"x".repeat(MIB)}"]\n\n`);
  const parsed: number[] = [];
  const turnToParse = (chars: number) => Promise.resolve(void parsed.push(chars));
  const reader = newRecordReader(
    { read: () => Promise.resolve(success(bytes)), turn, turnToParse },
    newSseFraming(),
  );
  assert((await reader.next()).ok);
  assertEquals(turns, 10);
  assertEquals(parsed, [text.length]);
});

Deno.test("a reader of records that has forgotten them holds none", async () => {
  const bytes = new TextEncoder().encode('data: {"a":1}\n\n');
  const reader = newRecordReader(
    { read: () => Promise.resolve(success(bytes)), turn: () => null, turnToParse: () => null },
    newSseFraming(),
  );
  assert((await reader.next()).ok);
  assertEquals(reader.latest().length, 1);
  reader.forget();
  assertEquals([reader.latest().length, reader.heldChars()], [0, 0]);
});
