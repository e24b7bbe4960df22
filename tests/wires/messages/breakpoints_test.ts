import fc from "fast-check";
import { isObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import { setBreakpoints } from "../../../src/wires/messages/breakpoints.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { valueOf, type Written } from "../../support/translated.ts";
import { encodeRequest } from "./encoded_request.ts";

const AUTO = { cache_breakpoints: "auto" };
const HI = { role: "user", content: "Hi" };
const TOOLS = ["bash", "edit"].map((name) => ({ type: "function", function: { name } }));
const CALL = { id: "call_1", type: "function", function: { name: "bash", arguments: "{}" } };

/** The paths of all breakpoints of an upstream request, which must all be of five minutes. */
function placesIn(value: JsonValue | undefined, path = ""): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one, at) => placesIn(one, `${path}[${at}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    if (key !== "cache_control") return placesIn(member, path === "" ? key : `${path}.${key}`);
    assertEquals(member, { type: "ephemeral" });
    return [path];
  });
}

function placesFor(request: Written, settings: Written = AUTO): readonly string[] {
  return placesIn(valueOf(encodeRequest(request, settings)));
}

const PLACES: readonly (readonly [what: string, request: Written, places: readonly string[]])[] = [
  ["one text", { messages: [HI] }, ["messages[0].content[0]"]],
  ["a system text", { messages: [{ role: "system", content: "Be." }, HI] }, [
    "system[0]",
    "messages[0].content[0]",
  ]],
  ["a system text that is moved to the head", {
    messages: [{ role: "system", content: "Be." }, HI, { role: "system", content: "More." }],
  }, ["system[1]", "messages[0].content[0]"]],
  ["a tool loop", {
    tools: TOOLS,
    messages: [
      { role: "system", content: "Be." },
      { role: "user", content: "run it" },
      { role: "assistant", tool_calls: [CALL] },
      { role: "tool", tool_call_id: "call_1", content: "a.txt" },
    ],
  }, ["messages[0].content[0]", "messages[2].content[0]", "system[0]", "tools[1]"]],
  ["a long dialogue", {
    messages: [1, 2, 3].flatMap((n) => [
      { role: "user", content: [{ type: "text", text: "a" }, { type: "text", text: `b${n}` }] },
      { role: "assistant", content: "Yes." },
    ]).slice(0, -1),
  }, ["messages[2].content[1]", "messages[4].content[1]"]],
  ["an image", {
    messages: [{
      role: "user",
      content: [{ type: "image_url", image_url: { url: "https://a/b.png" } }],
    }],
  }, ["messages[0].content[0]"]],
];

for (const [what, request, places] of PLACES) {
  Deno.test(`the breakpoints of a request with ${what} are at its ends`, () => {
    assertEquals(placesFor(request).toSorted(), places.toSorted());
    assertEquals(placesFor(request, {}), [], "none by default");
  });
}

Deno.test("a request in which the client has set a breakpoint gets no other", () => {
  const own = { cache_control: { type: "ephemeral" } };
  const marked = [
    [[{ ...HI, ...own }], "messages[0].content[0]"],
    [
      [{ role: "user", content: [{ type: "text", text: "a", ...own }, HI_PART] }],
      "messages[0].content[0]",
    ],
    [[{ role: "system", content: "Be.", ...own }, HI], "system[0]"],
  ] as const;
  for (const [messages, place] of marked) assertEquals(placesFor({ messages }), [place]);
  const [first, ...tools] = TOOLS;
  const request = { messages: [HI], tools: [{ ...first, ...own }, ...tools] };
  assertEquals(placesFor(request), ["tools[0]"]);
  assertEquals(setBreakpoints({ messages: [HI], ...own }).count, 0);
});

const HI_PART = { type: "text", text: "Hi" };

Deno.test("a breakpoint moves before a block that cannot carry one, or is left out", () => {
  const user = (content: JsonValue) => setBreakpoints({ messages: [{ role: "user", content }] });
  for (
    const last of [
      { type: "thinking", thinking: "Hm", signature: "s" },
      { type: "redacted_thinking", data: "d" },
      { type: "text", text: "" },
    ]
  ) {
    const { request, count } = user([HI_PART, last]);
    assertEquals([placesIn(request), count], [["messages[0].content[0]"], 1]);
    assertEquals(user([last]), {
      request: { messages: [{ role: "user", content: [last] }] },
      count: 0,
    });
  }
});

Deno.test("breakpoints change nothing else, are at most four, and their number is right", () => {
  const block = fc.oneof(
    fc.record({ type: fc.constant("text"), text: fc.string() }),
    fc.record({
      type: fc.constant("tool_result"),
      content: fc.oneof(fc.string(), fc.constant([HI_PART])),
    }),
    fc.constant({ type: "thinking", thinking: "Hm" }),
  );
  const content = fc.oneof(fc.string({ minLength: 1 }), fc.array(block, { maxLength: 4 }));
  const message = fc.record({ role: fc.constantFrom("user", "assistant"), content });
  const request = fc.record({
    messages: fc.array(message, { maxLength: 8 }),
    system: content,
    tools: fc.array(fc.record({ name: fc.string(), input_schema: fc.constant({}) }), {
      maxLength: 3,
    }),
  }, { requiredKeys: ["messages"] });
  fc.assert(
    fc.property(request, (drawn) => {
      const marked = setBreakpoints(drawn as JsonObject);
      const places = placesIn(marked.request);
      assert(places.length <= 4 && places.length === marked.count, places.join());
      assertEquals(plain(marked.request), plain(drawn as JsonObject));
    }),
    { numRuns: 1_000 },
  );
});

/** A request without breakpoints, with each string content as its text block. */
function plain({ messages, system, ...rest }: JsonObject): unknown {
  const blocks = (content: JsonValue | undefined) =>
    typeof content === "string" ? [{ type: "text", text: content }] : content;
  return unmarked({
    ...rest,
    ...system !== undefined && { system: blocks(system) },
    messages: (Array.isArray(messages) ? messages.filter(isObject) : [])
      .map(({ content, ...others }) => ({ ...others, content: blocks(content) })),
  });
}

function unmarked(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, member) => key === "cache_control" ? undefined : member),
  );
}
