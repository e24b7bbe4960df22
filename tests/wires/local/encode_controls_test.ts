import { assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";
import { bodyOf, encodeFields, encodeText, localTarget } from "./target.ts";
import { newDocument } from "../../../src/formats/document.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { local } from "../../../src/wires/local/local.ts";

const PLAIN = { model: "m", messages: [{ role: "user", content: "Hi" }], stream: false };

Deno.test("a schema is sent without its envelope, with exact numbers, if the provider declares it", () => {
  const request = '{"messages":[{"role":"user","content":"Hi"}],"response_format":{"type":' +
    '"json_schema","json_schema":{"name":"n","description":"d","strict":true,' +
    '"schema":{"type":"object","properties":{"a":{"maximum":1.0}}}}}}';
  const capabilities = { structured_outputs: true };
  assertStringIncludes(
    valueOf(encodeText(request, { capabilities })),
    '"format":{"type":"object","properties":{"a":{"maximum":1.0}}}}',
  );
  assertFailed(encodeText(request), "unsupported_feature", "response_format");
});

Deno.test("a strict schema is verified, or named as lossy if it cannot be", () => {
  const lossyOf = (schema: JsonObject, verify = true) => {
    const response_format = {
      type: "json_schema",
      json_schema: { name: "n", strict: true, schema },
    };
    const settings = { capabilities: { structured_outputs: true }, verify };
    const document = newDocument({ messages: PLAIN.messages, response_format });
    const chat = { document, stream: false, includeUsage: false };
    const encoded = local.encode(chat, localTarget(settings));
    const { lossy = [], promises = [] } = valueOf(encoded);
    return [promises.length, lossy.includes("response_format.json_schema.strict")];
  };
  const closed = { type: "object", properties: {}, required: [], additionalProperties: false };
  assertEquals(lossyOf(closed), [1, false]);
  assertEquals(lossyOf(closed, false), [0, true]);
  assertEquals(lossyOf({ type: "object", properties: { a: { type: "string" } } }), [0, true]);
});

Deno.test("a schema format without a schema is refused", () => {
  const capabilities = { structured_outputs: true };
  const format = (json_schema: unknown) =>
    encodeFields({ response_format: { type: "json_schema", json_schema } }, { capabilities });
  const path = "response_format.json_schema";
  assertFailed(format(undefined), "missing_required_parameter", path);
  assertFailed(format({ name: "n" }), "missing_required_parameter", `${path}.schema`);
  assertFailed(format({ name: "n", schema: [] }), "invalid_type", `${path}.schema`);
  assertFailed(format({ name: "n", schema: {}, more: 1 }), "unsupported_feature", `${path}.more`);
});

Deno.test("effort needs the capability, and only levels of the runtime are accepted", () => {
  const effort = (level: unknown, levels: readonly string[] = [], enabled = true) =>
    encodeFields({ reasoning_effort: level }, {
      capabilities: { reasoning_effort: enabled, reasoning_effort_levels: levels },
    });
  for (const level of ["low", "medium", "high"]) {
    assertEquals<unknown>(bodyOf(effort(level)), { ...PLAIN, think: level });
  }
  assertEquals<unknown>(bodyOf(effort("max", ["max"])), { ...PLAIN, think: "max" });
  assertEquals<unknown>(bodyOf(effort("none", ["none"])), { ...PLAIN, think: false });
  for (const level of ["max", "none", "minimal", "xhigh"]) {
    assertFailed(effort(level), "unsupported_feature", "reasoning_effort");
  }
  for (const level of ["minimal", "xhigh"]) {
    assertFailed(effort(level, ["minimal", "xhigh"]), "unsupported_feature", "reasoning_effort");
  }
  assertFailed(effort("low", ["high"]), "unsupported_feature", "reasoning_effort");
  assertFailed(effort("low", [], false), "unsupported_feature", "reasoning_effort");
  assertFailed(effort(3), "invalid_type", "reasoning_effort");
});

Deno.test("reasoning.effort means the same as reasoning_effort", () => {
  const capabilities = { reasoning_effort: true };
  const encode = (fields: Record<string, unknown>) => encodeFields(fields, { capabilities });
  assertEquals<unknown>(bodyOf(encode({ reasoning: { effort: "high" } })), {
    ...PLAIN,
    think: "high",
  });
  assertFailed(
    encodeFields({ reasoning: { effort: "high" } }),
    "unsupported_feature",
    "reasoning.effort",
  );
  assertFailed(
    encode({ reasoning: { effort: "high", max_tokens: 5 } }),
    "unsupported_feature",
    "reasoning.max_tokens",
  );
  assertFailed(
    encode({ reasoning: { effort: "high" }, reasoning_effort: "low" }),
    "invalid_parameter_combination",
    "reasoning.effort",
  );
});

Deno.test("a request that disables thinking and sets an effort is refused", () => {
  const both = { thinking: { type: "disabled" }, reasoning_effort: "low" };
  const settings = { capabilities: { reasoning_effort: true } };
  assertFailed(encodeFields(both, settings), "invalid_parameter_combination", "thinking");
});
