import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import {
  naming,
  nativeConfig,
  type NativeGateway,
  nativeGateway,
  responseOf,
} from "../../support/native_gateway.ts";
import { refusalOf } from "../../support/state_call.ts";

const CAN = ["response_compaction", "response_input_tokens", "conversations"];

/** Correct response to each operation. */
const RIGHT: Readonly<Record<string, JsonObject>> = {
  compact: { object: "response.compaction", id: "cmp_1" },
  input_tokens: { object: "response.input_tokens", input_tokens: 3 },
};

/** Two accounts; the first one has made the response `resp_1` and the conversation `conv_1`. */
async function owned(able: readonly string[] = CAN): Promise<NativeGateway> {
  const config = nativeConfig({
    first: { can: ["responses_lifecycle", ...CAN] },
    second: { can: able },
  });
  const calls = nativeGateway(config, ({ path }) => {
    if (path === "/responses") return { body: responseOf("resp_1") };
    if (path === "/conversations") return { body: { object: "conversation", id: "conv_1" } };
    return { body: RIGHT[path.slice("/responses/".length)] ?? {} };
  });
  await calls.post("/responses", { model: "m", input: "Hi" });
  await calls.post("/conversations", {}, naming("first"));
  return calls;
}

/** An object that a request may refer to, its field, and the error for an unknown ID. */
const REFERENCES: readonly (readonly [refers: JsonObject, param: string, unknown: string])[] = [
  [{ previous_response_id: "resp_1" }, "previous_response_id", "previous_response_not_found"],
  [{ conversation: "conv_1" }, "conversation", "conversation_not_found"],
  [{ conversation: { id: "conv_1" } }, "conversation", "conversation_not_found"],
];

for (const name of Object.keys(RIGHT)) {
  const path = `/responses/${name}`;

  for (const [refers, param, unknown] of REFERENCES) {
    const body = { model: "m", ...refers };
    const what = `${name} with ${JSON.stringify(refers)}`;

    Deno.test(`${what} is sent only to its owner`, async () => {
      const calls = await owned();
      const other = await calls.post(path, body, naming("second"));
      assertEquals(refusalOf(other), [400, "invalid_value", "provider"]);
      const canonical = await calls.post(path, { ...body, model: "second/m" });
      assertEquals(refusalOf(canonical), [400, "invalid_value", "provider"]);
      assertEquals(calls.requests.length, 2);
      await calls.post(path, body, naming("first"));
      assertEquals(calls.requests.slice(2).map(({ host, json }) => [host, json]), [[
        "first",
        body,
      ]]);
    });

    Deno.test(`${what} is refused without a request if its owner is stale, in conflict or incapable`, async () => {
      const calls = await owned([]);
      calls.reload(nativeConfig({ first: { can: CAN, key: "sk-new" } }));
      const stale = [400, "provider_binding_stale", param];
      assertEquals(refusalOf(await calls.post(path, body)), stale);
      calls.reload(nativeConfig({ first: {}, second: { can: CAN } }));
      const incapable = [400, "unsupported_feature", "provider"];
      assertEquals(refusalOf(await calls.post(path, body)), incapable);
      calls.reload(nativeConfig({ first: { can: CAN }, second: { can: ["conversations"] } }));
      assertEquals((await calls.post(path, body)).json, RIGHT[name]);
      await calls.post("/responses", { model: "m", input: "Hi" }, naming("second"));
      await calls.post("/conversations", {}, naming("second"));
      const conflict = [400, "provider_binding_conflict", param];
      assertEquals(refusalOf(await calls.post(path, body)), conflict);
      assertEquals(calls.requests.length, 5);
    });

    Deno.test(`${what} with unknown owner requires a provider header`, async () => {
      const calls = await owned([]);
      await calls.world.advance(30 * 60_000);
      const answer = await calls.post(path, body);
      assertEquals([answer.error.code, answer.error.param], [unknown, param]);
      assertEquals(calls.requests.length, 2);
      assertEquals((await calls.post(path, body, naming("first"))).json, RIGHT[name]);
    });
  }

  Deno.test(`${name} refuses an object that only the gateway stores, and an invalid ID`, async () => {
    const chat = { choices: [{ message: { content: "Hi" }, finish_reason: "stop" }] };
    const config = nativeConfig({
      first: { can: ["response_compaction", "response_input_tokens"] },
    })
      .replaceAll("upstream_request_type: responses", "upstream_request_type: chat_completions");
    const calls = nativeGateway(config, () => ({ body: chat }));
    const response = await calls.post("/responses", { model: "m", input: "Hi" });
    const conversation = await calls.post("/conversations", {});
    const cases: readonly (readonly [refers: JsonObject, code: string, param: string])[] = [
      [
        { previous_response_id: response.json.id },
        "unsupported_feature",
        "previous_response_id",
      ],
      [{ conversation: conversation.json.id }, "unsupported_feature", "conversation"],
      [{ previous_response_id: " resp_1" }, "invalid_value", "previous_response_id"],
      [{ conversation: { id: "" } }, "invalid_value", "conversation.id"],
    ];
    for (const [refers, code, param] of cases) {
      const answer = await calls.post(path, { model: "m", ...refers }, naming("first"));
      assertEquals(refusalOf(answer), [400, code, param], JSON.stringify(refers));
    }
    assertEquals(calls.requests.length, 1);
  });
}
