import { assertEquals } from "../../support/assert.ts";
import { assertFailed, valueOf, type Written } from "../../support/translated.ts";
import { encodeFields } from "./encoded_request.ts";

const CAPABLE = {
  capabilities: { structured_outputs: true, reasoning_effort: true, adaptive_thinking: true },
};
const SCHEMA = { type: "object", properties: {}, additionalProperties: false };

function jsonSchema(members: Written): Written {
  return { response_format: { type: "json_schema", json_schema: { name: "n", ...members } } };
}

Deno.test("an effort is sent if the provider declares it, and does not add thinking", () => {
  for (const asked of [{ reasoning_effort: "low" }, { reasoning: { effort: "low" } }]) {
    const body = valueOf(encodeFields(asked, CAPABLE));
    assertEquals<unknown>(body.output_config, { effort: "low" });
    assertEquals(body.thinking, undefined);
  }
});

Deno.test("only permitted efforts are sent", () => {
  const listed = { capabilities: { reasoning_effort: true, reasoning_effort_levels: ["max"] } };
  const body = valueOf(encodeFields({ reasoning_effort: "max" }, listed));
  assertEquals<unknown>(body.output_config, { effort: "max" });
  const refused: readonly [Written, Written][] = [
    [{ reasoning_effort: "low" }, {}],
    [{ reasoning_effort: "low" }, listed],
    [{ reasoning_effort: "max" }, CAPABLE],
    [{ reasoning_effort: "none" }, CAPABLE],
    [{ reasoning_effort: "minimal" }, {
      capabilities: { reasoning_effort: true, reasoning_effort_levels: ["minimal"] },
    }],
  ];
  for (const [asked, settings] of refused) {
    assertFailed(encodeFields(asked, settings), "unsupported_feature", "reasoning_effort");
  }
});

Deno.test("the two effort fields must be equal", () => {
  const asked = { reasoning_effort: "low", reasoning: { effort: "high" } };
  assertFailed(encodeFields(asked, CAPABLE), "invalid_parameter_combination", "reasoning.effort");
  const summary = { reasoning: { effort: "high", summary: "auto" } };
  assertFailed(encodeFields(summary, CAPABLE), "unsupported_feature", "reasoning.summary");
});

Deno.test("adaptive thinking is sent unchanged if the provider declares it", () => {
  const thinking = { type: "adaptive", display: "omitted" };
  assertEquals<unknown>(valueOf(encodeFields({ thinking }, CAPABLE)).thinking, thinking);
  assertFailed(encodeFields({ thinking }), "unsupported_feature", "thinking.type");
  const budget = { type: "adaptive", budget_tokens: 1 };
  const refused = encodeFields({ thinking: budget }, CAPABLE);
  assertFailed(refused, "unsupported_feature", "thinking.budget_tokens");
});

Deno.test("a JSON schema is sent without nesting, together with the effort", () => {
  const asked = {
    ...jsonSchema({ description: "d", strict: false, schema: SCHEMA }),
    reasoning_effort: "high",
  };
  assertEquals<unknown>(valueOf(encodeFields(asked, CAPABLE)).output_config, {
    effort: "high",
    format: { type: "json_schema", schema: SCHEMA },
  });
});

Deno.test("response formats that cannot be translated are refused", () => {
  const withSchema = jsonSchema({ schema: SCHEMA });
  assertFailed(encodeFields(withSchema), "unsupported_feature", "response_format");
  assertFailed(
    encodeFields(jsonSchema({}), CAPABLE),
    "missing_required_parameter",
    "response_format.json_schema.schema",
  );
  const anyJson = { response_format: { type: "json_object" } };
  const unchecked = { ...CAPABLE, verify: false };
  assertFailed(encodeFields(anyJson, unchecked), "unsupported_feature", "response_format.type");
  const other = { response_format: { type: "grammar" } };
  assertFailed(encodeFields(other, CAPABLE), "unsupported_feature", "response_format.type");
});
