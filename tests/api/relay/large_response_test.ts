import type { JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { keyOf, twoKeys } from "../../support/client_keys.ts";
import { answers, got } from "../../support/chat_call.ts";
import { testGateway } from "../../support/gateway.ts";
import { scriptedWorld } from "../../support/world.ts";
import { CONFIG, post, relayedGateway } from "./relayed_gateway.ts";

const MIB = 1024 * 1024;
const IMAGE = { b64_json: "iVBO".repeat(400_000) };
const USAGE = { input_tokens: 5, output_tokens: 6, total_tokens: 11 };

/** A member with more values than a text that is parsed may have. */
const MANY = `"many":[${Array(600_000).fill("[]").join(",")}]`;

const SINGLE = CONFIG.replace("{initial_delay: 1s, jitter_factor: 0}", "{enabled: false}");

function imagesGateway(
  body: string,
  headers: Record<string, string> = { "content-type": "application/json" },
) {
  return relayedGateway(() => new Response(body, { headers }), twoKeys() + SINGLE);
}

/** Calls the function, and returns the length of the longest text that it parses. */
async function longestParsed(use: () => Promise<unknown>): Promise<number> {
  const { parse } = JSON;
  let longest = 0;
  JSON.parse = (text: string, ...rest: unknown[]) => {
    longest = Math.max(longest, text.length);
    return Reflect.apply(parse, JSON, [text, ...rest]);
  };
  try {
    await use();
  } finally {
    JSON.parse = parse;
  }
  return longest;
}

async function images(body: string, request: JsonObject = {}) {
  const calls = imagesGateway(body);
  const asked = { model: "able/image", prompt: "x", ...request };
  const answer = await got(await calls.app(post("/v1/images/generations", asked, keyOf("ada"))));
  return { answer, report: await calls.reported(1) };
}

Deno.test("a relayed response above 1 MiB is passed on without being parsed, whatever members it has", async () => {
  const body = `{ "created":1,"data":[${JSON.stringify(IMAGE)},{}],${MANY},"usage":${
    JSON.stringify(USAGE)
  }}`;
  assert(body.length > 2 * MIB);
  const calls = imagesGateway(body);
  const asked = post("/v1/images/generations", { model: "able/image", prompt: "x" }, keyOf("ada"));
  const longest = await longestParsed(async () => {
    const response = await calls.app(asked);
    assertEquals(response.status, 200);
    assert(await response.text() === body);
  });
  assert(longest < 1024, String(longest));
  const report = await calls.reported(1);
  assertEquals([report.charge, report.cost], [{ tokens: 11, nanoUsd: 80_000_000 }, 0.08]);
});

Deno.test("a relayed response may have 64 MiB and not a byte more", async () => {
  for (const [bytes, status] of [[64 * MIB, 200], [64 * MIB + 1, 502]] as const) {
    const [before, after] = ['{"data":[{"b64_json":"', '"}]}'];
    const { answer } = await images(before.padEnd(bytes - after.length, "A") + after);
    assertEquals([answer.status, answer.text.length > 1000], [status, status === 200]);
  }
});

Deno.test("an error, malformed JSON and a list in place of a large relayed response are failures", async () => {
  const filler = `"filler":"${"x".repeat(2 * MIB)}"`;
  const cases = [
    [
      `{"error":{"message":"Too long.","code":"context_length_exceeded"},${filler}}`,
      400,
      "Too long.",
    ],
    [
      `{"error":{"message":"${"x".repeat(2 * MIB)}"}}`,
      502,
      "The provider responded with an error.",
    ],
    [`{"data":[],${filler}`, 502, "The provider's response is not a JSON object."],
    [`{"data":[],${filler}}}`, 502, "The provider's response is not a JSON object."],
    [`[{${filler}}]`, 502, "The provider's response is not a JSON object."],
  ] as const;
  for (const [body, status, message] of cases) {
    const { answer } = await images(body);
    assertEquals([answer.status, answer.error.message], [status, message]);
  }
});

Deno.test("a large record of a relayed stream is passed on without being parsed", async () => {
  const last = `{"type":"image_generation.completed",${MANY},"b64_json":"AA==","usage":${
    JSON.stringify(USAGE)
  }}`;
  const body = `data: ${last}\n\n`;
  const calls = imagesGateway(body, { "content-type": "text/event-stream" });
  const request = { model: "able/tokens", prompt: "x", stream: true };
  const longest = await longestParsed(async () => {
    const response = await calls.app(post("/v1/images/generations", request, keyOf("ada")));
    assert(await response.text() === body);
  });
  assert(longest < 1024, String(longest));
  assertEquals((await calls.reported(1)).usage?.total, 11);
});

Deno.test("large embeddings are passed on without being parsed, if there is one for each input", async () => {
  const vector = `{"object":"embedding","embedding":[${Array(20_000).fill("-0.12345").join(",")}]}`;
  const list = (count: number) =>
    `{"object":"list","data":[${Array(count).fill(vector).join(",")}],"usage":{"prompt_tokens":3}}`;
  for (const [vectors, status] of [[12, 200], [11, 502]] as const) {
    const body = list(vectors);
    const world = scriptedWorld({ fetch: () => answers(200, body) });
    const config = 'providers: {up: {type: compat, base_url: "http://up"}}\n' +
      "routing: {routes: [{name: r, targets: [{provider: up}]}]}\nretry: {enabled: false}\n";
    const calls = testGateway(config, world);
    const request = { model: "m", input: Array(12).fill("x"), encoding_format: "float" };
    const longest = await longestParsed(async () => {
      const response = await calls.app(post("/v1/embeddings", request));
      assertEquals(response.status, status);
      const text = await response.text();
      if (status === 200) assert(text === body);
    });
    assert(longest < 1024, String(longest));
    assertEquals((await calls.reported(1)).usage?.input, status === 200 ? 3 : undefined);
  }
});
