import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { valueOf } from "../../../support/translated.ts";
import {
  ABLE,
  encodeFor,
  fieldsOf,
  promisesOf,
  refusalOf,
  translate,
  TRANSLATED,
  translateFields,
} from "../translated.ts";

const USER = [{ role: "user", content: "hi" }];

Deno.test("max_tokens is sent as max_completion_tokens with the digits of the client", () => {
  const { chat } = valueOf(translate(
    `{"model":"a","max_tokens":1.28e5,"messages":[{"role":"user","content":"hi"}]}`,
  ));
  assertEquals(
    chat.document.text,
    `{"model":"m","max_completion_tokens":1.28e5,"messages":[{"role":"user","content":"hi"}]}`,
  );
});

Deno.test("a request without max_tokens is refused as the vendor refuses it", () => {
  assertEquals(refusalOf(translate({ model: "a", messages: USER })), [
    "missing_required_parameter",
    "max_tokens",
    "max_tokens: Field required",
  ]);
});

Deno.test("max_tokens 0, which only fills the vendor's prompt cache, is refused by a translated target", () => {
  assertEquals(refusalOf(translateFields({ max_tokens: 0 })), [
    "unsupported_feature",
    "max_tokens",
    "max_tokens: Input should be greater than or equal to 1",
  ]);
});

Deno.test("max_tokens that is no whole number, or negative, is refused", () => {
  assertEquals(
    refusalOf(translateFields({ max_tokens: 1.5 }))[2],
    "max_tokens: Input should be a valid integer",
  );
  assertEquals(refusalOf(translateFields({ max_tokens: "9" }))[0], "invalid_type");
  assertEquals(refusalOf(translateFields({ max_tokens: -1 }))[0], "invalid_value");
});

Deno.test("max_tokens above extra.max_tokens of the provider is refused in the words that clients repair by", () => {
  for (const wire of TRANSLATED) {
    const extra = { extra: { max_tokens: 8192 } };
    assertEquals(refusalOf(translateFields({ max_tokens: 128000 }, wire, extra)), [
      "unsupported_feature",
      "max_tokens",
      "max_tokens: 128000 > 8192, which is the maximum allowed number of output tokens for this model",
    ]);
    assertEquals(translateFields({ max_tokens: 8192 }, wire, extra).ok, true);
  }
});

Deno.test("extra.max_tokens is not sent to a local runtime as an option", () => {
  const sent = JSON.parse(
    valueOf(encodeFor({}, "local", { extra: { max_tokens: 8192, num_ctx: 4 } })).text,
  );
  assertEquals(sent.options, { num_ctx: 4, num_predict: 100 });
});

Deno.test("max_tokens below the minimum of a Responses provider is refused with the client's own path", () => {
  assertEquals(refusalOf(encodeFor({ max_tokens: 15 }, "responses")), [
    "unsupported_feature",
    "max_tokens",
    "max_tokens: The provider's minimum is 16; send a higher limit.",
  ]);
  assertEquals(encodeFor({ max_tokens: 16 }, "responses").ok, true);
});

Deno.test("a stream asks for its usage; a whole message sends neither field", () => {
  assertEquals(fieldsOf({ stream: true }), {
    stream: true,
    stream_options: { include_usage: true },
  });
  assertEquals(fieldsOf({ stream: false }), {});
});

Deno.test("stop_sequences are sent as stop; none are sent for an empty list or null", () => {
  assertEquals(fieldsOf({ stop_sequences: ["a", "b"] }), { stop: ["a", "b"] });
  assertEquals(fieldsOf({ stop_sequences: [] }), {});
  assertEquals(fieldsOf({ stop_sequences: null }), {});
});

Deno.test("stop_sequences are refused by a Responses provider without checks, except for an empty list or null", () => {
  const unchecked = { verify: false };
  const [kind, param, message] = refusalOf(
    encodeFor({ stop_sequences: ["a"] }, "responses", unchecked),
  );
  assertEquals([kind, param], ["unsupported_feature", "stop_sequences"]);
  assert(message.startsWith("stop_sequences: "), message);
  assertEquals(encodeFor({ stop_sequences: [] }, "responses", unchecked).ok, true);
  assertEquals(encodeFor({ stop_sequences: null }, "responses", unchecked).ok, true);
});

Deno.test("stop_sequences that a Responses provider cannot enforce are checked on the response", () => {
  assertEquals(promisesOf({ stop_sequences: ["a"] }, "responses"), ["stop_sequences"]);
  assertEquals(promisesOf({}, "responses"), []);
});

Deno.test("stop_sequences of another type are refused by their path", () => {
  assertEquals(
    refusalOf(translateFields({ stop_sequences: "a" }))[2],
    "stop_sequences: Input should be a valid list",
  );
  assertEquals(refusalOf(translateFields({ stop_sequences: ["a", 1] }))[1], "stop_sequences.1");
  assertEquals(refusalOf(encodeFor({ stop_sequences: ["a", ""] }, "local"))[1], "stop_sequences.1");
});

Deno.test("temperature, top_p and top_k keep their text", () => {
  const { chat } = valueOf(translate(
    `{"max_tokens":9,"temperature":1.0,"top_p":0.10,"top_k":5,"messages":[{"role":"user","content":"hi"}]}`,
  ));
  assertEquals(
    chat.document.text,
    `{"model":"m","max_completion_tokens":9,"temperature":1.0,"top_p":0.10,"top_k":5,"messages":[{"role":"user","content":"hi"}]}`,
  );
  assertEquals(
    refusalOf(translateFields({ temperature: "1" }))[2],
    "temperature: Input should be a valid number",
  );
});

Deno.test("absent sampling fields get the defaults of the provider", () => {
  const sent = JSON.parse(valueOf(encodeFor({}, "compat", { temperature: 0.5, top_p: 0.9 })).text);
  assertEquals([sent.temperature, sent.top_p], [0.5, 0.9]);
});

Deno.test("top_k is refused by a Responses provider", () => {
  assertEquals(
    refusalOf(encodeFor({ top_k: 5 }, "responses"))[2],
    "top_k: Extra inputs are not permitted",
  );
});

Deno.test("metadata.user_id is sent as user when every Chat server takes it", () => {
  for (const id of ["u_1-A", "a".repeat(64)]) {
    assertEquals(fieldsOf({ metadata: { user_id: id } }), { user: id });
    assertEquals(fieldsOf({ metadata: { user_id: id } }, "responses"), { user: id });
  }
});

Deno.test("metadata.user_id that is too long or has other characters is not sent, and named", () => {
  for (const id of ["a".repeat(65), '{"device_id":"d"}', "a b", ""]) {
    const { chat, lossy } = valueOf(translateFields({ metadata: { user_id: id } }));
    assertEquals([chat.document.value.user, lossy], [undefined, ["metadata.user_id"]]);
  }
});

Deno.test("metadata.user_id is not sent to a local runtime", () => {
  const { chat, lossy } = valueOf(translateFields({ metadata: { user_id: "u" } }, "local"));
  assertEquals([chat.document.value.user, lossy], [undefined, ["metadata.user_id"]]);
});

Deno.test("metadata with another key is refused by name; null and an absent user_id ask for nothing", () => {
  assertEquals(
    refusalOf(translateFields({ metadata: { team: "a" } }))[2],
    "metadata.team: Extra inputs are not permitted",
  );
  assertEquals(fieldsOf({ metadata: { user_id: null } }), {});
  assertEquals(fieldsOf({ metadata: {} }), {});
  assertEquals(refusalOf(translateFields({ metadata: { user_id: 1 } }))[1], "metadata.user_id");
});

Deno.test("service_tier auto asks for nothing; standard_only is the default tier of Chat", () => {
  for (const wire of TRANSLATED) assertEquals(fieldsOf({ service_tier: "auto" }, wire), {});
  assertEquals(fieldsOf({ service_tier: "standard_only" }), { service_tier: "default" });
  assertEquals(fieldsOf({ service_tier: "standard_only" }, "responses"), {
    service_tier: "default",
  });
  assertEquals(fieldsOf({ service_tier: "standard_only" }, "local"), {});
  assertEquals(
    refusalOf(translateFields({ service_tier: "fast" }))[2],
    "service_tier: Input should be 'auto' or 'standard_only'",
  );
});

const SCHEMA = { type: "object", properties: { n: { type: "number" } } };
const FORMAT = { type: "json_schema", schema: SCHEMA };
const CHAT_FORMAT = {
  type: "json_schema",
  json_schema: { name: "output", schema: SCHEMA, strict: true },
};

Deno.test("a format, in its newer or its older field, is a strict response format where the provider declares structured_outputs", () => {
  for (const wire of TRANSLATED) {
    assertEquals(fieldsOf({ output_config: { format: FORMAT } }, wire, ABLE), {
      response_format: CHAT_FORMAT,
    });
    assertEquals(fieldsOf({ output_format: FORMAT }, wire, ABLE), { response_format: CHAT_FORMAT });
  }
});

Deno.test("what the gateway adds to a format is not named as lossy by a local target", () => {
  for (const verify of [true, false]) {
    const settings = { ...ABLE, verify };
    const fields = { output_config: { format: FORMAT } };
    const { text, lossy } = valueOf(encodeFor(fields, "local", settings));
    assert(text.includes('"format":{'), text);
    assertEquals(lossy, []);
  }
});

Deno.test("the schema of a format keeps its text", () => {
  const { chat } = valueOf(translate(
    `{"max_tokens":9,"output_config":{"format":{"schema":{"maximum":1.0, "9":1,"8":2},"type":"json_schema"}},"messages":[{"role":"user","content":"hi"}]}`,
    "compat",
    ABLE,
  ));
  assertEquals(
    chat.document.text.includes(`"schema":{"maximum":1.0, "9":1,"8":2},"strict":true`),
    true,
  );
});

Deno.test("a format is refused by its own path where structured_outputs is not declared", () => {
  for (const wire of TRANSLATED) {
    assertEquals(refusalOf(translateFields({ output_config: { format: FORMAT } }, wire)), [
      "unsupported_feature",
      "output_config.format",
      "output_config.format: Extra inputs are not permitted",
    ]);
    assertEquals(refusalOf(translateFields({ output_format: FORMAT }, wire))[1], "output_format");
  }
});

Deno.test("both fields of a format together are refused", () => {
  const both: JsonObject = { output_config: { format: FORMAT }, output_format: FORMAT };
  assertEquals(refusalOf(translateFields(both, "compat", ABLE)).slice(0, 2), [
    "invalid_value",
    "output_format",
  ]);
});

Deno.test("a format that is no schema is refused by the path of what is wrong", () => {
  const at = (format: JsonObject) =>
    refusalOf(translateFields({ output_config: { format } }, "compat", ABLE))[1];
  assertEquals(at({ type: "json_object" }), "output_config.format.type");
  assertEquals(at({ type: "json_schema" }), "output_config.format.schema");
  assertEquals(at({ ...FORMAT, name: "a" }), "output_config.format.name");
});

Deno.test("output_config.task_budget is refused unless it is null, and so is every other member", () => {
  assertEquals(fieldsOf({ output_config: { task_budget: null } }), {});
  for (const member of ["task_budget", "verbosity"]) {
    assertEquals(
      refusalOf(translateFields({ output_config: { [member]: { a: 1 } } }))[2],
      `output_config.${member}: Extra inputs are not permitted`,
    );
  }
});
