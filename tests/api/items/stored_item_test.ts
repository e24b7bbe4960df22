import { toStoredItem } from "../../../src/api/items/stored_item.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { nativeConfig, nativeGateway, responseOf } from "../../support/native_gateway.ts";
import { assertValid } from "../../support/schemas.ts";
import { objectsAt, stateCalls, textAt } from "../../support/state_call.ts";
import { scriptedWorld } from "../../support/world.ts";
import { requestFields } from "../responses/request_fields.ts";

const MINT = { uuid: () => "00000000-0000-0000-0000-000000000000" };

/** Members that listed items have even when they are null. */
const NULL_MEMBERS = [
  "additional_tools.tools[0].parameters",
  "additional_tools.tools[0].strict",
  "additional_tools.tools[0].tools[0].parameters",
  "additional_tools.tools[0].tools[0].strict",
  "code_interpreter_call.code",
  "code_interpreter_call.outputs",
  "computer_call.action.keys",
  "computer_call.actions[0].keys",
  "image_generation_call.result",
  "shell_call.action.max_output_length",
  "shell_call.action.timeout_ms",
  "shell_call.environment",
  "shell_call_output.max_output_length",
  "tool_search_call.call_id",
  "tool_search_output.call_id",
  "tool_search_output.tools[0].parameters",
  "tool_search_output.tools[0].strict",
  "tool_search_output.tools[0].tools[0].parameters",
  "tool_search_output.tools[0].tools[0].strict",
];

/**
 * Members that name the type of an object, members of any value, and members whose keys the client
 * chooses.
 */
const OPEN = /\.type$|^type$|\.some$|\.error\.content$/;

/** Whether there is a null in a value, on any level. */
function hasNull(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasNull);
  return value === null || (isObject(value) && Object.values(value).some(hasNull));
}

Deno.test(
  "an explicit null in an item is omitted, unless the published schema requires the member",
  () => {
    const kept = new Set<string>();
    let count = 0;
    for (const { path, request } of requestFields()) {
      const [, below] = /^input\[0\]\.(.*[^\]])$/.exec(path) ?? [];
      if (below === undefined) continue;
      const { input } = request(null);
      const item = Array.isArray(input) ? input[0] : undefined;
      assert(isObject(item));
      // What a required member has anyway is none of this test.
      const { input: other } = request("x");
      const without = Array.isArray(other) && isObject(other[0]) ? other[0] : {};
      if (hasNull(toStoredItem(without, MINT))) continue;
      count += 1;
      const { type = "message" } = item;
      if (!OPEN.test(path) && hasNull(toStoredItem(item, MINT))) kept.add(`${type}.${below}`);
    }
    assert(count > 200, String(count));
    assertEquals([...kept].toSorted(), NULL_MEMBERS);
  },
);

const NULLS: JsonObject[] = [
  {
    id: null,
    type: null,
    role: "user",
    status: null,
    phase: null,
    content: [
      { type: "input_text", text: "a", prompt_cache_breakpoint: null },
      { type: "input_image", image_url: "data:,", file_id: null, detail: null },
      { type: "input_file", file_data: "a", filename: "a", file_id: null, file_url: null },
    ],
  },
  {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: "a", annotations: null, logprobs: null }],
  },
  {
    id: "rs_1",
    type: "reasoning",
    summary: null,
    content: null,
    encrypted_content: null,
    status: null,
  },
  {
    type: "function_call",
    call_id: "c",
    name: "f",
    arguments: "{}",
    namespace: null,
    caller: null,
  },
  {
    type: "function_call_output",
    call_id: "c",
    output: [{ type: "input_text", text: "4", prompt_cache_breakpoint: null }],
    status: null,
    name: null,
  },
];

testOverStores(
  "listed input items match the published schema, whatever nulls the client has sent",
  async () => {
    const calls = nativeGateway(nativeConfig({ up: {} }), () => ({ body: responseOf("resp_1") }));
    const opaque = { type: "of_tomorrow", id: "new", status: null, deep: { a: [null], b: null } };
    await calls.post("/responses", { model: "m", input: [...NULLS, opaque] });
    // The upstream gets them as they came.
    assertEquals<unknown>(calls.requests[0]?.json.input, [...NULLS, opaque]);
    const { json } = await calls.get("/responses/resp_1/input_items?order=asc");
    const [last, ...known] = objectsAt(json, "data").toReversed();
    assertEquals(last, opaque);
    assertEquals([known.length, hasNull([...known])], [NULLS.length, false]);
    assertValid("ResponseItemList", { ...json, data: known });
  },
);

testOverStores(
  "items of a conversation lose their nulls too, and nulls inside schemas stay",
  async () => {
    const calls = stateCalls(testGateway(oneProvider("http://up"), scriptedWorld()).app);
    const id = textAt((await calls.post("/conversations")).json, "id");
    const parameters = { type: "object", properties: { a: { enum: [null], default: null } } };
    const tools = [{ type: "function", name: "f", description: null, parameters, strict: null }];
    const search = { id: "ts", type: "tool_search_output", call_id: null, status: null, tools };
    const items = [...NULLS.slice(0, 2), search];
    const { json } = await calls.post(`/conversations/${id}/items`, { items });
    const kept = objectsAt(json, "data");
    assertEquals(hasNull(kept.slice(0, 2)), false);
    assertEquals<unknown>(kept[2], {
      id: "ts",
      type: "tool_search_output",
      call_id: null,
      tools: [{ type: "function", name: "f", parameters, strict: null }],
    });
  },
);
