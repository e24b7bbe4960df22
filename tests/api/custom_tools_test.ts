import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import {
  chunk,
  compatAnswer,
  compatStream,
  localAnswer,
  messagesAnswer,
  responsesAnswer,
} from "../support/growth/spoken.ts";
import { answers } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { nativeGateway, type SentRequest } from "../support/native_gateway.ts";
import { objectsAt, refusalOf, type Reply } from "../support/state_call.ts";
import { scriptedWorld } from "../support/world.ts";

const KINDS = ["compat", "messages", "local", "native"] as const;
type Kind = (typeof KINDS)[number];

const RUN = {
  type: "custom",
  name: "run",
  format: { type: "grammar", syntax: "lark", definition: "start: /a+/" },
};
const CHAT_RUN = { type: "custom", custom: { name: "run" } };
const ADD = { type: "function", name: "add", parameters: { type: "object" }, strict: false };
const ARGUMENTS = { input: "a\n" };
const CUSTOM_ITEM = { id: "ctc_1", type: "custom_tool_call", call_id: "c1", name: "run" };

/** The upstream calls `run` with a text, as each protocol has it. */
function calling(kind: Kind, name = "run") {
  switch (kind) {
    case "compat": {
      const called = { name, arguments: JSON.stringify(ARGUMENTS) };
      return compatAnswer(
        { tool_calls: [{ id: "c1", type: "function", function: called }] },
        "tool_calls",
      );
    }
    case "messages":
      return messagesAnswer([{ type: "tool_use", id: "c1", name, input: ARGUMENTS }], "tool_use");
    case "local":
      return localAnswer({ tool_calls: [{ id: "c1", function: { name, arguments: ARGUMENTS } }] });
    case "native":
      return responsesAnswer([{ ...CUSTOM_ITEM, name, input: "a\n", status: "completed" }]);
  }
}

/** A gateway with one provider of each kind, which a model of that name chooses. */
function gatewayFor(name?: string) {
  const providers = KINDS.map((kind) => {
    const type = kind === "native" ? "compat" : kind;
    return `  ${kind}: {type: ${type}, base_url: "http://${kind}", api_key: k}\n`;
  });
  const routes = KINDS.map((kind) => {
    const request = kind === "native" ? ", upstream_request_type: responses" : "";
    return `    - {name: ${kind}, match: {models: [${kind}]}, ` +
      `targets: [{provider: ${kind}${request}}]}\n`;
  });
  const config = `providers:\n${providers.join("")}routing:\n  routes:\n${routes.join("")}` +
    "retry: {enabled: false}\n";
  return nativeGateway(config, ({ host }) => {
    const kind = KINDS.find((one) => one === host);
    assert(kind !== undefined);
    return { body: calling(kind, name).body };
  });
}

function toolsOf(request: SentRequest | undefined): readonly JsonObject[] {
  assert(request !== undefined);
  return objectsAt(request.json, "tools");
}

function callOf(reply: Reply): JsonObject {
  assertEquals(reply.status, 200, reply.text);
  const [item] = objectsAt(reply.json, "output");
  assert(item !== undefined);
  const { id: _id, ...rest } = item;
  return rest;
}

const CALL = {
  type: "custom_tool_call",
  status: "completed",
  call_id: "c1",
  name: "run",
  input: "a\n",
};

for (const kind of KINDS) {
  Deno.test(`a Responses client has its custom tool over ${kind}, and only a grammar that is not enforced is lossy`, async () => {
    const { post, requests } = gatewayFor();
    const tool_choice = { type: "custom", name: "run" };
    const reply = await post("/responses", {
      model: kind,
      input: "Hi",
      tools: [ADD, RUN],
      ...kind !== "local" && { tool_choice },
    });
    assertEquals(callOf(reply), CALL);
    assertEquals(
      reply.headers.get("x-gateway-lossy"),
      kind === "native" ? null : "tools[1].format",
    );
    assertEquals(toolsOf(requests[0]).length, 2);
    if (kind === "native") assertEquals<unknown>(toolsOf(requests[0])[1], RUN);
  });

  Deno.test(`tools of namespaces and of additional_tools keep their names over ${kind}`, async () => {
    const { post } = gatewayFor(kind === "native" ? "run" : "code__run");
    const namespace = { type: "namespace", name: "code", tools: [RUN] };
    const input = [
      { type: "additional_tools", role: "developer", tools: [namespace] },
      { role: "user", content: "Hi" },
    ];
    const reply = await post("/responses", { model: kind, input });
    const expected = kind === "native" ? CALL : { ...CALL, namespace: "code" };
    assertEquals(callOf(reply), expected);
    assertEquals(
      reply.headers.get("x-gateway-lossy"),
      kind === "native" ? null : "input[0].tools[0].tools[0].format",
    );
  });

  Deno.test(`the history of a custom tool has the same bytes over ${kind} in two turns`, async () => {
    const { post, requests } = gatewayFor();
    const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0K" };
    const first = [
      { role: "user", content: "Hi" },
      { ...CUSTOM_ITEM, input: 'a "\u{1F600}"\n' },
      { type: "custom_tool_call_output", call_id: "c1", output: "ok" },
    ];
    const second = [
      ...first,
      { type: "custom_tool_call", call_id: "c2", name: "run", input: "" },
      {
        type: "custom_tool_call_output",
        call_id: "c2",
        output: [{ type: "input_text", text: "see" }, image],
      },
    ];
    const lossy: (string | null)[] = [];
    for (const input of [first, second]) {
      const reply = await post("/responses", { model: kind, input, tools: [ADD] });
      assertEquals(reply.status, 200, reply.text);
      lossy.push(reply.headers.get("x-gateway-lossy"));
    }
    const isExact = kind === "messages" || kind === "native";
    assertEquals(lossy, [null, isExact ? null : "input[4].output[1]"]);
    const [before, after] = requests.map(({ json }) =>
      json[kind === "native" ? "input" : "messages"]
    );
    assert(Array.isArray(before) && Array.isArray(after) && before.length < after.length);
    assertEquals(JSON.stringify(after.slice(0, before.length)), JSON.stringify(before));
  });
}

Deno.test("a Chat client has its custom tool over each type, and over compat its own text is passed on", async () => {
  const { post, requests } = gatewayFor();
  for (const kind of ["messages", "local", "native"]) {
    const reply = await post("/chat/completions", {
      model: kind,
      messages: [{ role: "user", content: "Hi" }],
      tools: [CHAT_RUN],
    });
    assertEquals(reply.status, 200, reply.text);
    const [choice] = objectsAt(reply.json, "choices");
    assert(isObject(choice) && isObject(choice.message));
    assertEquals<unknown>(objectsAt(choice.message, "tool_calls"), [
      { id: "c1", type: "custom", custom: { name: "run", input: "a\n" } },
    ]);
    assertEquals(choice.finish_reason, "tool_calls");
  }
  await post("/chat/completions", {
    model: "compat",
    messages: [{ role: "user", content: "Hi" }],
    tools: [CHAT_RUN],
  });
  assertEquals<unknown>(toolsOf(requests.at(-1)), [CHAT_RUN]);
});

Deno.test("a Chat client's custom tool is passed on to the host of a profile that declares custom tools", async () => {
  for (const [capable, type] of [[true, "custom"], [false, "function"]] as const) {
    const { post, requests } = nativeGateway(
      `
providers: {up: {type: compat, base_url: "http://up", api_key: k, compatibility_profile: vllm, capabilities: {custom_tools: ${capable}}}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`,
      () => ({ body: calling("compat").body }),
    );
    const messages = [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c0", type: "custom", custom: { name: "run", input: "x" } }],
      },
      { role: "tool", tool_call_id: "c0", content: "ok" },
    ];
    const tool_choice = { type: "custom", custom: { name: "run" } };
    const asked = [{ messages, tools: [CHAT_RUN], tool_choice }, { messages }];
    for (const more of asked) {
      const reply = await post("/chat/completions", { model: "m", ...more });
      assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, null], reply.text);
      const { json } = requests.at(-1) ?? {};
      assert(json !== undefined);
      const [, turn] = objectsAt(json, "messages");
      assertEquals(objectsAt(turn ?? {}, "tool_calls").map((call) => call.type), [type]);
      if (!("tools" in more)) continue;
      assertEquals(toolsOf(requests.at(-1)).map((tool) => tool.type), [type]);
      assertEquals(isObject(json.tool_choice) && json.tool_choice.type, type);
    }
  }
});

Deno.test("a compat provider that takes custom tools gets them and calls them itself, whole and streamed", async () => {
  const custom = { name: "run", input: "{a" };
  const more = [{ index: 0, custom: { input: '"\n' } }];
  const call = { index: 0, id: "c1", type: "custom", custom };
  for (const stream of [false, true]) {
    const answer = stream
      ? compatStream(
        [chunk({ tool_calls: [call] }), chunk({ tool_calls: more })],
        "tool_calls",
      )
      : compatAnswer(
        { tool_calls: [{ id: "c1", type: "custom", custom: { name: "run", input: '{a"\n' } }] },
        "tool_calls",
      );
    const { post, requests } = nativeGateway(
      `
providers: {up: {type: compat, base_url: "http://up", api_key: k, capabilities: {custom_tools: true}}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`,
      () => ({
        body: answer.body,
        ...stream && { headers: { "content-type": "text/event-stream" } },
      }),
    );
    const input = [
      { role: "user", content: "Hi" },
      { type: "custom_tool_call", call_id: "c0", name: "run", input: "x" },
      { type: "custom_tool_call_output", call_id: "c0", output: "ok" },
    ];
    const tool_choice = { type: "custom", name: "run" };
    const reply = await post("/responses", {
      model: "m",
      input,
      tools: [RUN],
      tool_choice,
      stream,
    });
    assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, null]);
    assert(reply.text.includes('"type":"custom_tool_call"'));
    assert(reply.text.includes('"input":"{a\\"\\n"'), reply.text);
    assertEquals(reply.text.includes("response.custom_tool_call_input.delta"), stream);
    const { json } = requests[0] ?? {};
    assert(json !== undefined);
    const grammar = { definition: "start: /a+/", syntax: "lark" };
    assertEquals<unknown>(json.tools, [
      { type: "custom", custom: { name: "run", format: { type: "grammar", grammar } } },
    ]);
    assertEquals<unknown>(json.tool_choice, CHAT_RUN);
    const [, turn] = objectsAt(json, "messages");
    assertEquals<unknown>(turn?.tool_calls, [
      { id: "c0", type: "custom", custom: { name: "run", input: "x" } },
    ]);
  }
});

Deno.test("the log line of a call has the number of its calls of custom tools", async () => {
  const called = (name: string, id: string) => ({ id, type: "function", function: { name } });
  const tool_calls = [called("run", "a"), called("add", "b"), called("run", "c")];
  const { body } = compatAnswer({ tool_calls }, "tool_calls");
  const config = `
providers: {up: {type: compat, base_url: "http://up", api_key: k}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`;
  const world = scriptedWorld({ fetch: () => answers(200, body) });
  const { app, reports } = testGateway(config, world);
  for (const tools of [[RUN, ADD], [ADD]]) {
    const request = { model: "m", input: "Hi", tools };
    const init = { method: "POST", body: JSON.stringify(request) };
    await (await app(new Request("http://localhost/v1/responses", init))).text();
  }
  assertEquals(reports.map(({ customCalls }) => customCalls), [2, 0]);
});

Deno.test("two tools of one name are refused, whatever their kinds", async () => {
  const { post, requests } = gatewayFor();
  for (const model of ["compat", "messages", "local"]) {
    const tools = [RUN, { ...ADD, name: "run" }];
    const twice = await post("/responses", { model, input: "Hi", tools });
    assertEquals(refusalOf(twice), [400, "invalid_value", "tools[1].name"]);
  }
  assertEquals(requests.length, 0);
});

Deno.test("over local a required call of a custom tool is verified, and a response without it fails", async () => {
  const verified = gatewayFor();
  const asked = { model: "local", input: "Hi", tools: [RUN, ADD] };
  const tool_choice = { type: "custom", name: "run" };
  const reply = await verified.post("/responses", { ...asked, tool_choice });
  assertEquals(callOf(reply), CALL);
  assertEquals(reply.headers.get("x-gateway-verified"), "tool_choice");
  const broken = await gatewayFor("add").post("/responses", { ...asked, tool_choice });
  assertEquals([broken.status, broken.error.code], [502, "promise_broken"]);
});

/** How the call of `CALL` is in a request to an upstream. */
const SENT: Readonly<Record<Kind, string>> = {
  compat: '"arguments":"{\\"input\\":\\"a\\\\n\\"}"',
  messages: '"input":{"input":"a\\n"}',
  local: '"arguments":{"input":"a\\n"}',
  native: '"type":"custom_tool_call"',
};
const OUTPUT = { type: "custom_tool_call_output", call_id: "c1", output: "done" };

Deno.test("a conversation with custom calls is continued on each other kind of target", async () => {
  for (const from of KINDS) {
    for (const to of KINDS) {
      const { post, get, requests } = gatewayFor();
      const { json: { id = null } } = await post("/conversations", {});
      const asked = { conversation: id, tools: [RUN] };
      const first = await post("/responses", { ...asked, model: from, input: "Hi" });
      assertEquals(callOf(first), CALL);
      const next = await post("/responses", { ...asked, model: to, input: [OUTPUT] });
      assertEquals([next.status, requests[1]?.host], [200, to], next.text);
      const sent = requests[1]?.body ?? "";
      assert(sent.includes(SENT[to]) && sent.includes("done"), sent);
      const items = await get(`/conversations/${String(id)}/items?order=asc`);
      assertEquals(objectsAt(items.json, "data").map(({ type, status }) => [type, status]), [
        ["message", "completed"],
        ["custom_tool_call", "completed"],
        ["custom_tool_call_output", "completed"],
        ["custom_tool_call", "completed"],
      ]);
    }
  }
});

Deno.test("a stored response with custom calls is continued, and its items are listed", async () => {
  for (const model of ["compat", "messages", "local"] as const) {
    const { post, get, requests } = gatewayFor();
    const first = await post("/responses", { model, input: "Hi", tools: [RUN] });
    const { id: previous_response_id = null } = first.json;
    const asked = { model, previous_response_id, tools: [RUN], input: [OUTPUT] };
    const next = await post("/responses", asked);
    assertEquals(callOf(next), CALL);
    const sent = requests[1]?.body ?? "";
    assert(sent.includes(SENT[model]) && sent.includes("done"), sent);
    const items = await get(`/responses/${String(next.json.id)}/input_items?order=asc`);
    assertEquals(objectsAt(items.json, "data").map(({ type }) => type), [
      "message",
      "custom_tool_call",
      "custom_tool_call_output",
    ]);
  }
});
