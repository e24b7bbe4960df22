import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { assertValid } from "../support/schemas.ts";
import { ADD, eventsIn, listIn, newNativeClient, textIn } from "./native_client.ts";

const CASES: readonly { readonly model: string; readonly more: JsonObject }[] = [
  { model: "sim-echo", more: {} },
  {
    model: "sim-echo",
    more: { input: [{ role: "user", content: [{ type: "input_text", text: "Hi" }] }] },
  },
  { model: "sim-tools", more: { tools: [ADD] } },
  { model: "sim-parallel", more: { tools: [ADD] } },
  { model: "sim-tools", more: { tools: [{ type: "web_search" }] } },
  {
    model: "sim-think",
    more: { include: ["reasoning.encrypted_content"], reasoning: { summary: "auto" } },
  },
  {
    model: "sim-think-tools",
    more: { tools: [ADD], instructions: "Be brief.", metadata: { a: "b" } },
  },
  { model: "sim-refuse", more: {} },
  { model: "sim-length", more: {} },
  { model: "sim-filter", more: {} },
  { model: "sim-echo", more: { input: "" } },
];

function request(model: string, more: JsonObject = {}): JsonObject {
  return { model, input: "Good  day\nto you", ...more };
}

async function streamed(model: string, more: JsonObject = {}): Promise<readonly JsonObject[]> {
  const body = request(model, { stream: true, ...more });
  const response = await newNativeClient().call("POST /responses", body);
  assertEquals(response.headers.get("content-type"), "text/event-stream");
  return eventsIn(await response.text());
}

function typesOf(events: readonly JsonObject[]): readonly unknown[] {
  return events.map(({ type }) => type);
}

Deno.test("whole responses and all stream events match the API schemas for every output style", async () => {
  for (const { model, more } of CASES) {
    assertValid("Response", await newNativeClient().json("POST /responses", request(model, more)));
    const events = await streamed(model, more);
    for (const event of events) assertValid("ResponseStreamEvent", event);
    assertEquals(events.map((event) => event.sequence_number), [...events.keys()]);
  }
});

Deno.test("the terminal event of a stream contains the response that the same request gets whole", async () => {
  for (const { model, more } of CASES) {
    const body = request(model, more);
    const whole = await newNativeClient().json("POST /responses", body);
    assertEquals((await streamed(model, more)).at(-1)?.response, whole, model);
  }
});

Deno.test("sim-echo streams one delta per word between the events that open and close its item", async () => {
  const events = await streamed("sim-echo");
  assertEquals(typesOf(events), [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    ...Array.from({ length: 4 }, () => "response.output_text.delta"),
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
  const deltas = events.flatMap(({ delta }) => delta === undefined ? [] : [delta]);
  assertEquals(deltas, ["Good", "  day", "\nto", " you"]);
});

Deno.test("each stream record has its event type as its event name", async () => {
  const response = await newNativeClient().call(
    "POST /responses",
    request("sim-think", { stream: true }),
  );
  for (const record of (await response.text()).split("\n\n").slice(0, -1)) {
    const [event = "", data = ""] = record.split("\n");
    assert(data.includes(`"type":"${event.slice("event: ".length)}"`), record);
  }
});

Deno.test("usage counts the words of the input, the instructions and the output", async () => {
  const body = request("sim-think", { instructions: "Be kind." });
  const { usage } = await newNativeClient().json("POST /responses", body);
  assertEquals(usage, {
    input_tokens: 6,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 11,
    output_tokens_details: { reasoning_tokens: 7 },
    total_tokens: 17,
  });
});

Deno.test("a response that reaches max_output_tokens is incomplete", async () => {
  const more = { max_output_tokens: 16 };
  const response = await newNativeClient().json("POST /responses", request("sim-long-40", more));
  assertEquals(response.status, "incomplete");
  assertEquals(response.incomplete_details, { reason: "max_output_tokens" });
  assertEquals(listIn(response, "output")[0]?.status, "incomplete");
  assertEquals((await streamed("sim-long-40", more)).at(-1)?.type, "response.incomplete");
});

Deno.test("reasoning has a summary, and its encrypted content is accepted from the same account only", async () => {
  const upstream = newNativeClient();
  const include = ["reasoning.encrypted_content"];
  const sealed = await upstream.json("POST /responses", request("sim-think", { include }));
  const plain = await upstream.json("POST /responses", request("sim-think"));
  const [thinking] = listIn(sealed, "output");
  assertEquals(typeof thinking?.encrypted_content, "string");
  assertEquals(listIn(thinking, "summary")[0]?.text, "The user says: Good  day\nto you");
  assert(!("encrypted_content" in (listIn(plain, "output")[0] ?? {})));
  const input = [...listIn(sealed, "output"), { role: "user", content: "And?" }];
  assertEquals(
    textIn(await upstream.json("POST /responses", { model: "sim-echo", input })),
    "And?",
  );
  const changed = [{ ...thinking, summary: [{ type: "summary_text", text: "No." }] }];
  const refused = { model: "sim-echo", input: changed };
  await upstream.json("POST /responses", refused, 400);
  await upstream.json("POST /responses", { model: "sim-echo", input }, 400, "sk-two");
});

Deno.test("reasoning with an id and no encrypted content is accepted only while the account stores the item", async () => {
  const upstream = newNativeClient();
  const user = { role: "user", content: "And?" };
  const [stored] = listIn(await upstream.json("POST /responses", request("sim-think")), "output");
  const body = (...input: unknown[]) => ({ model: "sim-echo", input: [...input, user] });
  await upstream.json("POST /responses", body(stored));
  await upstream.json("POST /responses", body({ type: "reasoning", summary: [] }));
  const invented = body({ type: "reasoning", id: "rs_1", summary: [] });
  const refused = await upstream.json("POST /responses", invented, 404);
  assert(isObject(refused.error));
  assertEquals(refused.error.message, "Item with id 'rs_1' not found.");
  const unstored = request("sim-think", { store: false });
  const [lost] = listIn(await upstream.json("POST /responses", unstored), "output");
  await upstream.json("POST /responses", body(lost), 404);
});

Deno.test("a hosted search precedes the message that cites it", async () => {
  const tools = [{ type: "web_search" }];
  const response = await newNativeClient().json("POST /responses", request("sim-tools", { tools }));
  const [search, message] = listIn(response, "output");
  assertEquals([search?.type, message?.type], ["web_search_call", "message"]);
  const [part] = listIn(message, "content");
  assertEquals(listIn(part, "annotations")[0]?.type, "url_citation");
  const types = typesOf(await streamed("sim-tools", { tools }));
  for (const step of ["in_progress", "searching", "completed"]) {
    assert(types.includes(`response.web_search_call.${step}`));
  }
  const none = request("sim-tools", { tools, tool_choice: "none" });
  assertEquals(listIn(await newNativeClient().json("POST /responses", none), "output").length, 1);
});

Deno.test("a function call output in the next request is quoted by the model", async () => {
  const upstream = newNativeClient();
  const first = await upstream.json("POST /responses", request("sim-tools", { tools: [ADD] }));
  const [call] = listIn(first, "output");
  assertEquals([call?.type, call?.name, call?.arguments], ["function_call", "add", '{"a":1}']);
  const result = { type: "function_call_output", call_id: call?.call_id, output: "42" };
  const body = {
    model: "sim-tools",
    tools: [ADD],
    previous_response_id: first.id,
    input: [result],
  };
  assertEquals(textIn(await upstream.json("POST /responses", body)), 'The tools said "42".');
});

Deno.test("sim-json answers with an object that matches the schema in text.format", async () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const text = { format: { type: "json_schema", name: "form", schema } };
  const response = await newNativeClient().json("POST /responses", request("sim-json", { text }));
  assertEquals(textIn(response), '{"n":1}');
  assert(isObject(response.text));
  assertEquals(response.text.format, text.format);
});
