import { parseResponsesRequest } from "../../../src/api/responses/request.ts";
import { isRefusal } from "../../../src/core/failure/failure.ts";
import { type JsonObject, type JsonValue, parseJson } from "../../../src/core/json/json.ts";
import { messageOf } from "../../../src/core/failure/openai_error.ts";
import { newDocument } from "../../../src/formats/document.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { type Field, objectIn, requestFields, smallest } from "./request_fields.ts";

const FIELDS = requestFields();

/** A value of each JSON type, and one with a fraction. */
const VALUES: Readonly<Record<string, JsonValue>> = {
  string: "x",
  integer: 3,
  number: 1.5,
  boolean: true,
  array: [],
  object: {},
};

/** The types that a field may have; null where it may be anything. */
function typesOf({ schemas }: Field): readonly string[] | null {
  const types = schemas.map(({ type, const: only, enum: choice, properties }) => {
    const example = only ?? (Array.isArray(choice) ? choice[0] : undefined);
    if (typeof type === "string") return type;
    if (example !== undefined) return typeof example;
    return properties === undefined ? null : "object";
  });
  return types.includes(null) ? null : types.filter((type) => type !== null);
}

/**
 * Types that are accepted and not published: older answers have them, and clients send them back.
 */
const OLDER: Readonly<Record<string, readonly string[]>> = { "input[0].error": ["string"] };

function refusal(body: JsonObject): readonly [string, string | null] | null {
  const request = parseResponsesRequest(newDocument(body));
  if (request.ok) return null;
  assert(isRefusal(request.failure));
  return [request.failure.kind, request.failure.at];
}

Deno.test("every field of the published request schema is checked", () => {
  const paths = new Set(FIELDS.map(({ path }) => path));
  for (
    const path of [
      "max_output_tokens",
      "text.format.strict",
      "tools[0].description",
      "tools[0].tools[0].description",
      "tools[0].filters.filters[0].key",
      "tools[0].environment.skills[0].source.data",
      "tool_choice.tools[0]",
      "input[0].status",
      "input[0].content[0].annotations[0].start_index",
      "input[0].content[0].logprobs[0].top_logprobs[0].bytes[0]",
      "input[0].output[0].outcome.exit_code",
      "input[0].tools[0].ranking_options.hybrid_search.text_weight",
      "input[0].action.env.some",
      "prompt.variables.some.detail",
      "moderation.policy.output.mode",
    ]
  ) assert(paths.has(path), path);
  assert(paths.size > 300, String(paths.size));
});

Deno.test("a nested field of the wrong type is refused by its path, whatever the field", () => {
  const wrong: string[] = [];
  for (const field of FIELDS) {
    const types = typesOf(field);
    if (types === null) continue;
    const taken = [...types, ...OLDER[field.path] ?? []];
    for (const [type, value] of Object.entries(VALUES)) {
      if (taken.includes(type) || (type === "integer" && taken.includes("number"))) continue;
      const refused = refusal(field.request(value));
      if (refused?.[0] === "invalid_type" && refused[1] === field.path) continue;
      wrong.push(`${field.path} as ${type}: ${refused} in ${JSON.stringify(field.request(value))}`);
    }
  }
  assertEquals(wrong, []);
});

Deno.test("a field of each of its documented types is accepted, and so is null", () => {
  const refused: string[] = [];
  for (const field of FIELDS) {
    const isElement = field.path.endsWith("]");
    const values = [...field.schemas.map(smallest), ...isElement ? [] : [null]];
    if (typesOf(field) === null) values.push(...Object.values(VALUES));
    for (const value of values) {
      const kind = refusal(field.request(value))?.[0];
      const isMissing = (value === null || field.path === "input") &&
        kind === "missing_required_parameter";
      if (kind === undefined || isMissing) continue;
      refused.push(`${field.path}: ${kind} in ${JSON.stringify(field.request(value))}`);
    }
  }
  assertEquals(refused, []);
});

Deno.test("unknown fields, and all members of items, parts and tools of unknown types, are accepted", () => {
  const odd = {
    status: 1,
    content: 0,
    description: [],
    role: {},
    nested: { type: "function", name: 0 },
  };
  for (
    const body of [
      { constructor: 1, toString: [], hasOwnProperty: {} },
      { input: [{ type: "of_tomorrow", ...odd }, { type: "constructor", name: 0 }] },
      { input: [{ role: "user", content: [{ type: "of_tomorrow", ...odd, text: 0 }], more: 1 }] },
      { tools: [{ type: "of_tomorrow", ...odd }, { type: "__proto__", name: 0 }] },
      { text: { format: { type: "of_tomorrow", strict: "a" } } },
      { tool_choice: { type: "of_tomorrow", name: 0 } },
    ]
  ) assertEquals(refusal({ input: "hi", ...body }), null, JSON.stringify(body));
});

Deno.test("integers are recognised by their value, in any notation", () => {
  for (const written of ["16.0", "1e2", "20000000000000000000"]) {
    const text = `{"input":"hi","max_output_tokens":${written}}`;
    const value = objectIn(parseJson(text));
    assert(parseResponsesRequest({ ...newDocument(value), text }).ok, written);
  }
  assertEquals(refusal({ input: "hi", max_output_tokens: 1.5 }), [
    "invalid_type",
    "max_output_tokens",
  ]);
});

Deno.test("values that are nested deeper than any translation are not checked", () => {
  const depth = 100_000;
  const text = `{"input":"hi","tools":[${'{"type":"namespace","tools":['.repeat(depth)}${
    "]}".repeat(depth)
  }]}`;
  const value = objectIn(parseJson(text));
  assert(parseResponsesRequest({ text, value, members: [] }).ok);
});

Deno.test("an error names the accepted types of the field", () => {
  const says = (body: JsonObject) => {
    const request = parseResponsesRequest(newDocument({ input: "hi", ...body }));
    return request.ok ? "" : messageOf(request.failure);
  };
  assertEquals(says({ top_logprobs: 0.5 }), "The field 'top_logprobs' must be an integer.");
  const choice = { tools: [{ type: "mcp", allowed_tools: 1 }] };
  const what = "must be an array or an object.";
  assertEquals(says(choice), `The field 'tools[0].allowed_tools' ${what}`);
  const key = "k".repeat(1000);
  const headers = { tools: [{ type: "mcp", headers: { [key]: 1 } }] };
  assertEquals(says(headers), `The field 'tools[0].headers.${"k".repeat(64)}' must be a string.`);
});
