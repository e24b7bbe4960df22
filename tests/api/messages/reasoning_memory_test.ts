import { isObject, type JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { keyOf } from "../../support/client_keys.ts";
import type { NativeGateway } from "../../support/native_gateway.ts";
import {
  blockOf,
  keyedConfig,
  thinkingConfig,
  thinkingGateway,
  type Thought,
} from "../reasoning/thinking_gateway.ts";

const HM: Thought = { text: " Hm\n", seal: "sealed" };
const USER = { role: "user", content: "Weather?" };
const TOOLS = [{ name: "f", input_schema: { type: "object" } }];

async function ask(
  gateway: NativeGateway,
  messages: readonly JsonObject[],
  more: JsonObject = {},
  headers: Readonly<Record<string, string>> = {},
) {
  const body = { model: "m", max_tokens: 64, tools: TOOLS, messages: [...messages], ...more };
  return await gateway.post("/messages", body, headers);
}

/** The content of the message in a response, whole or streamed. */
function contentOf(text: string): readonly JsonObject[] {
  if (text.startsWith("{")) return JSON.parse(text).content;
  const events = text.split("\n\n").filter((one) => one !== "")
    .map((one) => JSON.parse(one.slice(one.indexOf("data: ") + 6)));
  return events.filter(({ type }) => type === "content_block_start").map(
    ({ index, content_block }) => {
      const deltas = events.filter((event) =>
        event.type === "content_block_delta" && event.index === index
      ).map(({ delta }) => delta);
      const joined = (name: string) => deltas.map((delta) => delta[name] ?? "").join("");
      if (content_block.type === "thinking") {
        return { type: "thinking", thinking: joined("thinking"), signature: joined("signature") };
      }
      return { ...content_block, input: JSON.parse(joined("partial_json") || "{}") };
    },
  );
}

/** The turns of a tool loop after the user's message, as a client sends them back. */
function loop(content: readonly JsonObject[]): readonly JsonObject[] {
  const results = content.filter(({ type }) => type === "tool_use")
    .map(({ id }) => ({ type: "tool_result", tool_use_id: id ?? null, content: "sunny" }));
  return [{ role: "assistant", content: [...content] }, { role: "user", content: results }];
}

/** The reasoning items that the upstream has received last. */
function lastItems({ requests }: NativeGateway): readonly JsonObject[] {
  const input = requests.at(-1)?.json.input;
  return (Array.isArray(input) ? input : []).filter(isObject)
    .filter(({ type }) => type === "reasoning");
}

for (const stream of [false, true]) {
  for (const text of [HM.text, ""]) {
    const how = `${stream ? "a stream" : "a whole response"} with ${text === "" ? "no" : "a"} text`;
    Deno.test(`a Messages client over a Responses upstream continues a tool loop with the reasoning item of ${how}, under its own ID`, async () => {
      const thought = { ...HM, text };
      const gateway = thinkingGateway(thinkingConfig("responses"), "responses", [thought]);
      const first = await ask(gateway, [USER], { stream });
      const content = contentOf(first.text);
      assertEquals(
        content.map(({ type }) => type),
        text === "" ? ["tool_use"] : ["thinking", "tool_use"],
      );
      const next = await ask(gateway, [USER, ...loop(content)], { stream });
      assertEquals([next.status, next.headers.get("x-gateway-lossy")], [200, null]);
      assertEquals(lastItems(gateway), [blockOf("responses", thought)]);
    });
  }
}

Deno.test("the reasoning item comes back whether the client gets the thinking, its seal only, or nothing, and if it drops the thinking", async () => {
  const displays: readonly JsonObject[] = [
    {},
    { thinking: { type: "adaptive", display: "omitted" } },
    { thinking: { type: "disabled" } },
  ];
  for (const more of displays) {
    for (const drops of [false, true]) {
      const gateway = thinkingGateway(thinkingConfig("responses"), "responses", [HM]);
      const content = contentOf((await ask(gateway, [USER], more)).text);
      const sent = content.filter(({ type }) => !drops || type === "tool_use");
      await ask(gateway, [USER, ...loop(sent)], more);
      assertEquals(lastItems(gateway), [blockOf("responses", HM)]);
    }
  }
});

Deno.test("thinking that the client has changed brings no reasoning item back, and is named as lossy", async () => {
  const gateway = thinkingGateway(thinkingConfig("responses"), "responses", [HM]);
  const content = contentOf((await ask(gateway, [USER])).text)
    .map((block) => block.type === "thinking" ? { ...block, thinking: "Other." } : block);
  const next = await ask(gateway, [USER, ...loop(content)]);
  assertEquals([next.status, next.headers.get("x-gateway-lossy")], [200, "messages.1.content.0"]);
  assertEquals(lastItems(gateway), []);
});

Deno.test("the reasoning item of a Messages client goes to no other client key and to no other account", async () => {
  const gateway = thinkingGateway(keyedConfig("responses"), "responses", [HM]);
  const content = contentOf((await ask(gateway, [USER], {}, keyOf("ada"))).text);
  await ask(gateway, [USER, ...loop(content)], {}, keyOf("bob"));
  assertEquals(lastItems(gateway), []);
  await ask(gateway, [USER, ...loop(content)], {}, keyOf("ada"));
  assertEquals(lastItems(gateway), [blockOf("responses", HM)]);

  const moved = thinkingGateway(thinkingConfig("responses"), "responses", [HM]);
  const own = contentOf((await ask(moved, [USER])).text);
  moved.reload(thinkingConfig("responses", { key: "sk-2" }));
  const next = await ask(moved, [USER, ...loop(own)]);
  assertEquals([next.status, lastItems(moved)], [200, []]);
  assertEquals(next.headers.get("x-gateway-lossy"), "messages.1.content.0");
});

Deno.test("of a pool the key that has the reasoning of a Messages client is used, whatever key its session has", async () => {
  const pool = `
providers:
  up:
    type: compat
    base_url: "http://up"
    api_keys: [{name: one, value: sk-1}, {name: two, value: sk-2}]
    key_affinity: session
routing: {routes: [{name: main, targets: [{provider: up, upstream_request_type: responses}]}]}
retry: {enabled: false}
`;
  const gateway = thinkingGateway(pool, "responses", [HM]);
  const content = contentOf((await ask(gateway, [USER])).text);
  for (let turn = 0; turn < 8; turn++) {
    const session = { "x-gateway-sessionid": `s${turn}` };
    await ask(gateway, [USER, ...loop(content)], {}, session);
  }
  const keys = new Set(gateway.requests.map(({ headers }) => headers.get("authorization")));
  assertEquals(keys.size, 1);
});

Deno.test("without a state store a Messages client is served without its reasoning", async () => {
  const gateway = thinkingGateway(
    thinkingConfig("responses", { more: "state: {store: none}" }),
    "responses",
    [HM],
  );
  const content = contentOf((await ask(gateway, [USER])).text);
  const next = await ask(gateway, [USER, ...loop(content)]);
  assert(next.status === 200 && lastItems(gateway).length === 0);
});
