import { isObject, type JsonObject, type JsonValue } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { shortAnswer } from "../support/growth/spoken.ts";
import { nativeGateway } from "../support/native_gateway.ts";
import { objectsAt, textAt } from "../support/state_call.ts";

const KINDS = {
  compat: "{provider: up}",
  messages: "{provider: up}",
  local: "{provider: up}",
  responses: "{provider: up, upstream_request_type: responses}",
} as const;

type Kind = keyof typeof KINDS;

const CHAT_TOOL = { type: "function", function: { name: "look" } };
const TOOL = { type: "function", name: "look", parameters: { type: "object" }, strict: false };
const OWN = { name: "look", input_schema: { type: "object" } };
const SEARCH = { type: "web_search" };

function gatewayFor(kind: Kind, settings = "", omitted = "[web_search, web_search_20250305]") {
  const type = kind === "responses" ? "compat" : kind;
  const omits = omitted === "" ? "" : `omit_tools: ${omitted}, `;
  return nativeGateway(
    `
providers: {up: {type: ${type}, base_url: "http://up", api_key: k${settings}}}
routing: {routes: [{name: main, ${omits}targets: [${KINDS[kind]}]}]}
retry: {enabled: false}
`,
    () => ({ body: shortAnswer(kind === "responses" ? "native" : kind, false).body }),
  );
}

/** The tools that the upstream received; null if the request had none. */
function sentTools(requests: readonly { readonly body: string }[]): readonly unknown[] | null {
  const [request] = requests;
  assert(request !== undefined);
  const { tools = null } = JSON.parse(request.body);
  return tools;
}

function refusal(text: string): readonly unknown[] {
  const { error } = JSON.parse(text);
  assert(isObject(error));
  return [error.param ?? (isObject(error.details) ? error.details.param : null)];
}

Deno.test("a hosted tool that the route leaves out is not sent, and is named as lossy, over each client API and provider type", async () => {
  const cases: readonly (readonly [string, JsonObject, string, readonly Kind[]])[] = [
    ["/responses", { input: "Hi", tools: [TOOL, SEARCH] }, "tools[1]", [
      "compat",
      "messages",
      "local",
      "responses",
    ]],
    [
      "/chat/completions",
      {
        messages: [{ role: "user", content: "Hi" }],
        tools: [SEARCH, CHAT_TOOL],
      },
      "tools[0]",
      ["messages", "local", "responses"],
    ],
    [
      "/messages",
      {
        max_tokens: 64,
        messages: [{ role: "user", content: "Hi" }],
        tools: [OWN, { type: "web_search_20250305", name: "web_search" }],
      },
      "tools.1",
      ["compat", "local", "responses"],
    ],
  ];
  for (const [path, body, lossy, kinds] of cases) {
    for (const kind of kinds) {
      const { post, requests } = gatewayFor(kind);
      const reply = await post(path, { model: "m", store: undefined, ...body });
      assertEquals([path, kind, reply.status], [path, kind, 200]);
      assertEquals(reply.headers.get("x-gateway-lossy"), lossy);
      assertEquals(sentTools(requests)?.length, 1);
      assert(!requests.some((request) => request.body.includes("web_search")));
    }
  }
});

Deno.test("without omit_tools a hosted tool is refused by its path", async () => {
  for (const kind of ["compat", "messages", "local", "responses"] as const) {
    const { post, requests } = gatewayFor(kind, "", "");
    const reply = await post("/responses", { model: "m", input: "Hi", tools: [TOOL, SEARCH] });
    assertEquals([reply.status, ...refusal(reply.text)], [400, "tools[1].type"]);
    assertEquals(requests.length, 0);
  }
});

Deno.test("a tool of a type that the route does not list is refused next to one that is left out", async () => {
  const { post } = gatewayFor("messages");
  const tools = [SEARCH, TOOL, { type: "code_interpreter" }];
  const reply = await post("/responses", { model: "m", input: "Hi", tools });
  assertEquals([reply.status, ...refusal(reply.text)], [400, "tools[2].type"]);
});

Deno.test("a choice that names a tool which is left out is refused, and so is a required call without another tool", async () => {
  const choices: readonly (readonly [JsonValue, JsonObject[], string])[] = [
    [{ type: "web_search" }, [TOOL, SEARCH], "tool_choice.type"],
    [
      { type: "allowed_tools", mode: "auto", tools: [TOOL, SEARCH] },
      [TOOL, SEARCH],
      "tool_choice.tools[1].type",
    ],
    ["required", [SEARCH], "tool_choice"],
  ];
  for (const kind of ["compat", "messages", "local", "responses"] as const) {
    for (const [tool_choice, tools, path] of choices) {
      const { post, requests } = gatewayFor(kind);
      const reply = await post("/responses", { model: "m", input: "Hi", tools, tool_choice });
      assertEquals([kind, reply.status, ...refusal(reply.text)], [kind, 400, path]);
      assertEquals(requests.length, 0);
    }
  }
});

Deno.test("a Messages client's choice of a tool that is left out is refused", async () => {
  for (const kind of ["compat", "local", "responses"] as const) {
    const { post } = gatewayFor(kind);
    const reply = await post("/messages", {
      model: "m",
      max_tokens: 64,
      messages: [{ role: "user", content: "Hi" }],
      tools: [OWN, { type: "web_search_20250305", name: "web_search" }],
      tool_choice: { type: "tool", name: "web_search" },
    });
    assertEquals([reply.status, ...refusal(reply.text)], [400, "tool_choice.name"]);
  }
});

Deno.test("a target that serves a hosted tool itself gets it", async () => {
  const { post, requests } = gatewayFor(
    "responses",
    ", capabilities: {hosted_tools: [web_search]}",
  );
  const reply = await post("/responses", { model: "m", input: "Hi", tools: [TOOL, SEARCH] });
  assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, null]);
  assertEquals<unknown>(sentTools(requests), [TOOL, SEARCH]);
});

Deno.test("a native target gets the tools that the input declares without those that are left out, and the text of the rest unchanged", async () => {
  const input = (...tools: readonly string[]) =>
    `{"model":"m","input":[{"type":"additional_tools","role":"developer","tools":[${tools}]},` +
    '{"role":"user","content":"Hi"}]}';
  const search = '{"type":"web_search"}';
  const own = '{"type":"custom",  "name":"run"}';
  for (
    const [sent, lossy, received] of [
      [input(search, own), "input[0].tools[0]", input(own)],
      [input(own, search), "input[0].tools[1]", input(own)],
      [input(search), "input[0].tools[0]", input()],
      [input(own), null, input(own)],
    ] as const
  ) {
    const { post, requests } = gatewayFor("responses");
    const reply = await post("/responses", sent);
    assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, lossy], reply.text);
    assertEquals(requests[0]?.body, received);
  }
  const { post, requests } = gatewayFor("responses", "", "");
  const reply = await post("/responses", input(own, search));
  assertEquals([reply.status, ...refusal(reply.text)], [400, "input[0].tools[1].type"]);
  assertEquals(requests.length, 0);
});

Deno.test("a native target gets the text of the other tools unchanged, and no tools if none remains", async () => {
  const { post, requests } = gatewayFor("responses");
  const text =
    '{"model":"m","input":"Hi","tools":[{"type":"web_search"} , {"type":"function", "name":"a",' +
    '"parameters":{"const":1.0},"strict":false}]}';
  await post("/responses", text);
  assert(
    requests[0]?.body.includes(
      '"tools":[{"type":"function", "name":"a","parameters":{"const":1.0},"strict":false}]',
    ),
  );
  await post("/responses", { model: "m", input: "Hi", tools: [SEARCH] });
  assert(!requests[1]?.body.includes("tools"));
});

Deno.test("a hosted tool inside a namespace or the input is left out over each provider type", async () => {
  const nested = { type: "namespace", name: "n", tools: [TOOL, SEARCH] };
  const { post, requests } = gatewayFor("messages");
  const input = [
    { type: "additional_tools", role: "developer", tools: [SEARCH] },
    { role: "user", content: "Hi" },
  ];
  const reply = await post("/responses", { model: "m", input, tools: [nested] });
  assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [
    200,
    "input[0].tools[0], tools[0].tools[1]",
  ]);
  assertEquals(sentTools(requests)?.length, 1);
  const native = gatewayFor("responses");
  const { headers } = await native.post("/responses", { model: "m", input, tools: [nested] });
  assertEquals(headers.get("x-gateway-lossy"), "tools[0].tools[1], input[0].tools[0]");
  assertEquals<unknown>(sentTools(native.requests), [{ ...nested, tools: [TOOL] }]);
  const other = gatewayFor("responses", "", "[code_interpreter]");
  const refused = await other.post("/responses", { model: "m", input: "Hi", tools: [nested] });
  assertEquals([refused.status, ...refusal(refused.text)], [400, "tools[0].tools[1].type"]);
});

Deno.test("a native target gets the text of the rest of a namespace unchanged, and no namespace without tools", async () => {
  const own = '{"type":"function", "name":"a","parameters":{"const":1.0},"strict":false}';
  const search = '{"type":"web_search"}';
  const space = (...tools: readonly string[]) =>
    `{"type":"namespace" ,"name":"n","tools":[${tools}]}`;
  const body = (...tools: readonly string[]) =>
    `{"model":"m","input":[{"type":"additional_tools","role":"developer","tools":[${tools}]},` +
    `{"role":"user","content":"Hi"}],"tools":[${tools}]}`;
  for (
    const [given, kept] of [
      [[space(own, search), own], [space(own), own]],
      [[own, space(search)], [own]],
    ] as const
  ) {
    const { post, requests } = gatewayFor("responses");
    assertEquals((await post("/responses", body(...given))).status, 200);
    assertEquals(requests[0]?.body, body(...kept));
  }
});

Deno.test("a required call is refused if only tools in namespaces are left, and all of them are left out", async () => {
  const nested = (...tools: JsonObject[]) => ({ type: "namespace", name: "n", tools });
  for (const kind of ["messages", "responses"] as const) {
    for (const [tool, status] of [[nested(SEARCH), 400], [nested(SEARCH, TOOL), 200]] as const) {
      const { post } = gatewayFor(kind);
      const body = { model: "m", input: "Hi", tools: [tool], tool_choice: "required" };
      assertEquals([kind, (await post("/responses", body)).status], [kind, status]);
    }
  }
});

Deno.test("a native target gets the tools that stored items declare without hosted ones that it does not take", async () => {
  const own = { type: "custom", name: "run" };
  const nested = { type: "namespace", name: "n", tools: [TOOL, SEARCH] };
  const item = {
    id: "at_1",
    type: "additional_tools",
    role: "developer",
    tools: [SEARCH, own, nested, { type: "code_interpreter", container: { type: "auto" } }],
  };
  const cases: readonly (readonly [settings: string, omitted: string, sent: JsonValue[]])[] = [
    ["", "[web_search]", [own, { ...nested, tools: [TOOL] }]],
    ["", "", [own, { ...nested, tools: [TOOL] }]],
    [", capabilities: {hosted_tools: [web_search]}", "[web_search]", [SEARCH, own, nested]],
  ];
  for (const [settings, omitted, sent] of cases) {
    const { post, requests } = gatewayFor("responses", settings, omitted);
    const { json } = await post("/conversations", { items: [item] });
    const { id = null } = json;
    const reply = await post("/responses", { model: "m", input: "Hi", conversation: id });
    assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, "conversation"]);
    const { input } = JSON.parse(requests.at(-1)?.body ?? "");
    assertEquals([input[0].type, input[0].tools], ["additional_tools", sent]);
  }
});

Deno.test("a choice that names a tool of stored items which is left out is refused, and so is a required call without another tool", async () => {
  const space = (...tools: JsonObject[]): JsonObject => ({ type: "namespace", name: "n", tools });
  const allowed = { type: "allowed_tools", mode: "auto", tools: [TOOL, SEARCH] };
  const cases: readonly (readonly [JsonValue, JsonObject[], string | null, JsonObject?])[] = [
    [SEARCH, [TOOL, SEARCH], "tool_choice.type"],
    [SEARCH, [space(TOOL, SEARCH)], "tool_choice.type"],
    [allowed, [TOOL, SEARCH], "tool_choice.tools[1].type"],
    ["required", [SEARCH, space(SEARCH)], "tool_choice"],
    ["required", [SEARCH, space(SEARCH, TOOL)], null],
    ["required", [SEARCH], null, { tools: [TOOL] }],
    ["required", [TOOL], null, { tools: [SEARCH] }],
    [{ type: "function", name: "look" }, [TOOL, SEARCH], null],
    ["auto", [SEARCH], null],
  ];
  for (const kind of ["messages", "responses"] as const) {
    for (const [tool_choice, tools, path, more = {}] of cases) {
      // A translated turn that declares tools has no others.
      if (kind === "messages" && more.tools !== undefined && tools.includes(TOOL)) continue;
      const { post, requests } = gatewayFor(kind);
      const item = { id: "at_1", type: "additional_tools", role: "developer", tools };
      const { json } = await post("/conversations", { items: [item] });
      const { id = null } = json;
      const body = { model: "m", input: "Hi", conversation: id, tool_choice, ...more };
      const reply = await post("/responses", body);
      const refused = path === null ? [200, 1] : [400, 0, path];
      const found = path === null ? [] : refusal(reply.text);
      assertEquals([reply.status, requests.length, ...found], refused, reply.text);
    }
  }
});

Deno.test("a namespace of stored items of which nothing remains is left out with its tools", async () => {
  const space = (...tools: JsonObject[]): JsonObject => ({ type: "namespace", name: "n", tools });
  const cases: readonly (readonly [stored: JsonObject[], sent: JsonObject[]])[] = [
    [[space(SEARCH), TOOL], [TOOL]],
    [[space(space(SEARCH))], []],
    [[space(space(SEARCH), TOOL), space()], [space(TOOL), space()]],
  ];
  for (const [tools, sent] of cases) {
    const { post, requests } = gatewayFor("responses");
    const item = { id: "at_1", type: "additional_tools", role: "developer", tools };
    const { json } = await post("/conversations", { items: [item] });
    const { id = null } = json;
    const reply = await post("/responses", { model: "m", input: "Hi", conversation: id });
    assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, "conversation"]);
    assertEquals(JSON.parse(requests.at(-1)?.body ?? "").input[0].tools, sent);
  }
});

Deno.test("stored items of a previous response, and those that a request refers to, are sent without tools that are left out", async () => {
  const { get, post, requests } = gatewayFor("responses");
  const item = { type: "additional_tools", role: "developer", tools: [SEARCH, TOOL] };
  const input = [item, { role: "user", content: "Hi" }];
  const first = await post("/responses", { model: "m", input });
  const id = textAt(first.json, "id");
  const [declared] = objectsAt((await get(`/responses/${id}/input_items?order=asc`)).json, "data");
  assertEquals(declared?.tools, [SEARCH, TOOL]);
  const continued: readonly (readonly [JsonObject, string])[] = [
    [{ input: "Hi", previous_response_id: id }, "previous_response_id"],
    [
      { input: [{ type: "item_reference", id: declared?.id ?? null }, input[1] ?? null] },
      "input[0]",
    ],
  ];
  for (const [more, lossy] of continued) {
    const reply = await post("/responses", { model: "m", ...more });
    assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, lossy], reply.text);
    assertEquals(JSON.parse(requests.at(-1)?.body ?? "").input[0].tools, [TOOL]);
  }
});

Deno.test("a reference next to a response that its provider stores is sent as the item without tools that are left out", async () => {
  const { get, post, requests } = gatewayFor(
    "responses",
    ", capabilities: {responses_lifecycle: true}",
  );
  const item = { type: "additional_tools", role: "developer", tools: [SEARCH, TOOL] };
  const { json } = await post("/conversations", { items: [item] });
  const items = await get(`/conversations/${textAt(json, "id")}/items`);
  const id = textAt(objectsAt(items.json, "data")[0] ?? {}, "id");
  const first = await post("/responses", { model: "m", input: "Hi" });
  const reply = await post("/responses", {
    model: "m",
    previous_response_id: textAt(first.json, "id"),
    input: [{ type: "item_reference", id }],
  });
  assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, "input[0]"], reply.text);
  assertEquals(JSON.parse(requests.at(-1)?.body ?? "").input[0].tools, [TOOL]);
});
