import type { GatewayOptions } from "../../src/gateway/gateway.ts";
import { newAvailableStore } from "../../src/store/availability/available_store.ts";
import { newEncryptingCodec } from "../../src/store/records/encrypting_codec.ts";
import { newPlainCodec } from "../../src/store/records/plain_codec.ts";
import type { RecordCodec } from "../../src/store/records/record_codec.ts";
import { DEFAULT_RETENTION } from "../../src/store/retention.ts";
import { withFile } from "../store/sqlite/store.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { pieces, streamOf } from "../support/pieces.ts";
import { type Fetch, scriptedWorld } from "../support/world.ts";
import { privacyConfig } from "../privacy/rules.ts";

const VALUE = "bob.miller@example.com";
const TOKEN = /qz(?:[a-z]{2}){8}email/;

const CAPABILITIES =
  "{responses_lifecycle: true, chat_completions_lifecycle: true, structured_outputs: true}";

function configOf(native: boolean, more = ""): string {
  const target = native ? ", upstream_request_type: responses" : "";
  return `
providers:
  up: {type: compat, base_url: "http://up.test", api_key: sk-x, capabilities: ${CAPABILITIES}}
routing:
  routes: [{name: main, targets: [{provider: up${target}}]}]
security:
  enabled: true
  api_key: {keys: [{name: a, value: key-a-0123456789abcdef, adopt_unknown: true}, {name: b, value: key-b-0123456789abcdef}]}
retry: {enabled: false}
state: {ttl: 10m}
${more}${privacyConfig(["find: [email], action: replace"])}`;
}

/** A gateway whose provider stores the text with which it answers, and repeats it on reads. */
function gatewayOf(
  config: string,
  answer: (token: string, body: string) => object,
  options?: GatewayOptions,
) {
  const sent: string[] = [];
  let stored: object = {};
  const fetch: Fetch = async (_url, { method, body }) => {
    const text = await new Response(body ?? "").text();
    if (method === "POST") {
      sent.push(text);
      stored = answer(TOKEN.exec(text)?.[0] ?? "none", text);
    }
    const bytes = new TextEncoder().encode(JSON.stringify(stored));
    return new Response(streamOf(pieces(bytes, 1_000)), {
      headers: { "content-type": "application/json" },
    });
  };
  const world = scriptedWorld({ fetch });
  const gateway = testGateway(config, world, options);
  return {
    ...gateway,
    world,
    sent,
    async call(method: string, path: string, body?: object, key = "key-a-0123456789abcdef") {
      const response = await gateway.app(
        new Request(`http://gateway.test${path}`, {
          method,
          headers: {
            authorization: `Bearer ${key}`,
            "content-type": "application/json",
            ...path === "/v1/responses/resp_1" && { "x-gateway-provider": "up" },
          },
          ...body !== undefined && { body: JSON.stringify(body) },
        }),
      );
      return { response, text: await response.text() };
    },
  };
}

/** Returns a completion of the provider with this text. */
const completion = (content: string, id = "c") => ({
  id,
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
});

const nativeResponse = (token: string) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "m",
  status: "completed",
  output: [{
    id: "msg_1",
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: `to ${token}`, annotations: [] }],
  }],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});

Deno.test("a response that the provider stores is restored when it is read, until state.ttl after its last use", async () => {
  const gateway = gatewayOf(configOf(true), nativeResponse);
  const created = await gateway.call("POST", "/v1/responses", {
    model: "m",
    input: `Mail ${VALUE}`,
    store: true,
  });
  assert(created.text.includes(`to ${VALUE}`), created.text);
  const read = await gateway.call("GET", "/v1/responses/resp_1");
  assert(read.text.includes(`to ${VALUE}`), read.text);
  assertEquals(read.response.headers.get("x-gateway-redacted"), null);
  await gateway.world.advance(10 * 60_000 + 1);
  const late = await gateway.call("GET", "/v1/responses/resp_1");
  assert(TOKEN.test(late.text), late.text);
  assertEquals(late.response.headers.get("x-gateway-redacted"), "unrestored=1");
});

Deno.test("a response that continues a stored one has the values of the stored one", async () => {
  let token = "";
  const gateway = gatewayOf(configOf(true), (own) => nativeResponse(token = token || own));
  await gateway.call("POST", "/v1/responses", { model: "m", input: `Mail ${VALUE}`, store: true });
  const next = await gateway.call("POST", "/v1/responses", {
    model: "m",
    input: "Again",
    previous_response_id: "resp_1",
    store: true,
  });
  assert(next.text.includes(`to ${VALUE}`), next.text);
});

Deno.test("a local stored response has the values, and its continuation sends the same tokens", async () => {
  const gateway = gatewayOf(configOf(false), (token) => completion(`to ${token}`));
  const created = await gateway.call("POST", "/v1/responses", {
    model: "m",
    input: `Mail ${VALUE}`,
  });
  const { id } = JSON.parse(created.text);
  const read = await gateway.call("GET", `/v1/responses/${id}`);
  assert(read.text.includes(`to ${VALUE}`), read.text);
  await gateway.call("POST", "/v1/responses", {
    model: "m",
    input: "Again",
    previous_response_id: id,
  });
  const [first = "", second = ""] = gateway.sent;
  const token = TOKEN.exec(first)?.[0] ?? "";
  assertEquals([...second.matchAll(new RegExp(token, "g"))].length, 2, second);
  assert(!second.includes("bob.miller"));
});

Deno.test("a stored completion is restored when it is read, for its own client", async () => {
  const gateway = gatewayOf(configOf(false), (token) => completion(`to ${token}`, "chatcmpl-1"));
  const created = await gateway.call("POST", "/v1/chat/completions", {
    model: "m",
    store: true,
    messages: [{ role: "user", content: `Mail ${VALUE}` }],
  });
  assert(created.text.includes(`to ${VALUE}`), created.text);
  const read = await gateway.call("GET", "/v1/chat/completions/chatcmpl-1");
  assert(read.text.includes(`to ${VALUE}`), read.text);
  const other = await gateway.call(
    "GET",
    "/v1/chat/completions/chatcmpl-1",
    undefined,
    "key-b-0123456789abcdef",
  );
  assert(!other.text.includes("bob.miller"), other.text);
});

Deno.test("a cached answer has the values of each request, and is not shared between policies", async () => {
  const gateway = gatewayOf(
    configOf(false, "caching: {enabled: true}\n"),
    (token) => completion(`to ${token}`),
  );
  const body = { model: "m", messages: [{ role: "user", content: `Mail ${VALUE}` }] };
  for (const cache of ["MISS", "HIT"]) {
    const { response, text } = await gateway.call("POST", "/v1/chat/completions", body);
    assertEquals(response.headers.get("x-gateway-cache-status"), cache);
    assert(text.includes(`to ${VALUE}`), text);
  }
  await gateway.call("POST", "/v1/chat/completions", body, "key-b-0123456789abcdef");
  assertEquals(gateway.sent.length, 2);
});

Deno.test("an enum with a value holds for the schema of the client, which is checked on what it receives", async () => {
  const config = configOf(false).replace(
    /type: compat.*/,
    'type: local, base_url: "http://up.test"}',
  );
  const gateway = gatewayOf(config, (token) => ({
    model: "m",
    message: {
      content: "",
      tool_calls: [{ function: { name: "f", arguments: { to: token.toUpperCase() } } }],
    },
    done: true,
    done_reason: "stop",
  }));
  const parameters = {
    type: "object",
    additionalProperties: false,
    required: ["to"],
    properties: { to: { type: "string", enum: [VALUE], maxLength: VALUE.length } },
  };
  const { response, text } = await gateway.call("POST", "/v1/chat/completions", {
    model: "m",
    messages: [{ role: "user", content: "Who?" }],
    tools: [{ type: "function", function: { name: "f", strict: true, parameters } }],
  });
  assertEquals(response.status, 200, text);
  assertEquals(response.headers.get("x-gateway-verified"), "tools[0].function.strict");
  assertEquals(
    response.headers.get("x-gateway-lossy"),
    "tools[0].function.parameters, tools[0].function.parameters.properties.to.maxLength",
  );
  assertEquals(JSON.parse(JSON.parse(text).choices[0].message.tool_calls[0].function.arguments), {
    to: VALUE,
  });
  assert(!gateway.sent.join().includes("bob.miller"));
});

Deno.test("a text of a schema that a rule masks is named in X-Gateway-Lossy, and one that is replaced is not", async () => {
  const schema = {
    type: "object",
    properties: {
      a: { enum: ["x", "eve@example.com"] },
      b: { const: VALUE },
      enum: { enum: ["y"], pattern: "^y" },
    },
  };
  const lossy = async (action: string) => {
    const config = configOf(false).replace("action: replace", `action: ${action}`);
    const gateway = gatewayOf(config, () => completion("{}"));
    const { response } = await gateway.call("POST", "/v1/chat/completions", {
      model: "m",
      messages: [{ role: "user", content: "Hi" }],
      response_format: { type: "json_schema", json_schema: { name: "x", schema, strict: false } },
    });
    return response.headers.get("x-gateway-lossy")?.split(", ");
  };
  const below = "response_format.json_schema.schema.properties";
  assertEquals(await lossy("mask"), [`${below}.a.enum`, `${below}.b.const`]);
  assertEquals(await lossy("replace"), [`${below}.enum.pattern`]);
});

Deno.test("what the gateway itself stores is shown as its client wrote it, whatever a response rule masks", async () => {
  const rules = privacyConfig([
    "find: [email], action: replace",
    "find: [email], phase: response, action: mask",
  ]);
  const config = configOf(false).replace(/privacy:[\s\S]*$/, rules.trimStart());
  const gateway = gatewayOf(config, () => ({}));
  const created = await gateway.call("POST", "/v1/conversations", {
    metadata: { owner: VALUE },
    items: [{ type: "message", role: "user", content: `Mail ${VALUE}` }],
  });
  const { id, metadata } = JSON.parse(created.text);
  assertEquals(metadata, { owner: VALUE });
  const items = await gateway.call("GET", `/v1/conversations/${id}/items`);
  assert(items.text.includes(`Mail ${VALUE}`), items.text);
});

type StoredGateway = ReturnType<typeof gatewayOf>;

/** Runs each step with another gateway, as after restarts with one store in a file. */
async function afterRestarts(
  codec: RecordCodec,
  answer: Parameters<typeof gatewayOf>[1],
  steps: readonly ((gateway: StoredGateway) => Promise<void>)[],
): Promise<void> {
  await withFile(async (file) => {
    for (const step of steps) {
      const store = newAvailableStore(await file.open(), {
        world: file.world,
        log: { info() {}, warn() {}, error() {} },
        settings: { ttl: DEFAULT_RETENTION.ttlMs, max_bytes: DEFAULT_RETENTION.maxBytes },
        onFailure() {},
        onLoss() {},
      });
      await step(gatewayOf(configOf(true), answer, { store }));
      await store.close();
    }
  }, codec);
}

/** Returns how a read of a stored response looks after a restart with a store in a file. */
async function readAfterRestart(
  codec: RecordCodec,
): Promise<{ text: string; header: string | null }> {
  let read = { text: "", header: null as string | null };
  let token = "";
  await afterRestarts(codec, (own) => nativeResponse(token = token || own), [
    async ({ call }) => {
      const body = { model: "m", input: `Mail ${VALUE}`, store: true };
      const created = await call("POST", "/v1/responses", body);
      assert(created.text.includes(`to ${VALUE}`), created.text);
    },
    async ({ call }) => {
      const body = { model: "m", input: "Again", previous_response_id: "resp_1", store: true };
      await call("POST", "/v1/responses", body);
      const { response, text } = await call("GET", "/v1/responses/resp_1");
      read = { text, header: response.headers.get("x-gateway-redacted") };
    },
  ]);
  return read;
}

Deno.test("a response that the provider stores is restored after a restart by a store that encrypts, and by no other one", async () => {
  const { text, header } = await readAfterRestart(newEncryptingCodec([new Uint8Array(32).fill(7)]));
  assert(text.includes(`to ${VALUE}`), text);
  assertEquals(header, null);
  const plain = await readAfterRestart(newPlainCodec());
  assert(TOKEN.test(plain.text) && !plain.text.includes("bob.miller"), plain.text);
  assertEquals(plain.header, "unrestored=1");
});

Deno.test("the stored completions of a list are restored, each for its own client", async () => {
  const made: object[] = [];
  const tokens: string[] = [];
  const fetch: Fetch = async (_url, { method, body }) => {
    const text = await new Response(body ?? "").text();
    if (method === "POST") {
      const [token = ""] = TOKEN.exec(text) ?? [];
      tokens.push(token);
      made.unshift(completion(`to ${token}`, `chatcmpl-${made.length}`));
    }
    const answer = method === "POST" ? made[0] : { object: "list", data: made, has_more: false };
    return new Response(streamOf([new TextEncoder().encode(JSON.stringify(answer))]), {
      headers: { "content-type": "application/json" },
    });
  };
  const world = scriptedWorld({ fetch });
  const { app } = testGateway(configOf(false), world);
  const call = async (method: string, key: string, content?: string) => {
    const response = await app(
      new Request("http://gateway.test/v1/chat/completions", {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...content !== undefined && {
          body: JSON.stringify({ model: "m", store: true, messages: [{ role: "user", content }] }),
        },
      }),
    );
    return await response.text();
  };
  const [a, b] = ["key-a-0123456789abcdef", "key-b-0123456789abcdef"];
  for (const name of ["bob", "eve", "ada"]) await call("POST", a, `Mail ${name}@example.com`);
  await call("POST", b, "Mail zoe@example.com");
  assertEquals(new Set(tokens).size, 4);
  const listed = await call("GET", a);
  for (const name of ["bob", "eve", "ada"]) {
    assert(listed.includes(`to ${name}@example.com`), listed);
  }
  assert(!listed.includes("zoe@"), listed);
  assert((await call("GET", b)).includes("to zoe@example.com"));
});

Deno.test("items added to a conversation that the provider stores are restored when they are read", async () => {
  const config = configOf(true).replace("responses_lifecycle", "conversations: true, $&");
  const gateway = gatewayOf(config, (_token, body) => {
    const { items } = JSON.parse(body);
    return items === undefined
      ? { id: "conv_1", object: "conversation", created_at: 1, metadata: {} }
      : { object: "list", data: items, has_more: false };
  });
  await gateway.call("POST", "/v1/conversations", {});
  const path = "/v1/conversations/conv_1/items";
  const item = { id: "msg_1", type: "message", role: "user", content: `Mail ${VALUE}` };
  await gateway.call("POST", path, { items: [item] });
  assert(TOKEN.test(gateway.sent[1] ?? ""), gateway.sent[1]);
  const { response, text } = await gateway.call("GET", path);
  assert(text.includes(`Mail ${VALUE}`), text);
  assertEquals(response.headers.get("x-gateway-redacted"), null);
});

Deno.test("a client that may read the object of another one gets its tokens, not its values", async () => {
  const config = configOf(true).replace(
    "  enabled: true",
    "  enabled: true\n  isolate_clients: false",
  );
  const gateway = gatewayOf(config, nativeResponse);
  await gateway.call("POST", "/v1/responses", { model: "m", input: `Mail ${VALUE}`, store: true });
  const [own, other] = [
    await gateway.call("GET", "/v1/responses/resp_1"),
    await gateway.call("GET", "/v1/responses/resp_1", undefined, "key-b-0123456789abcdef"),
  ];
  assert(own.text.includes(`to ${VALUE}`), own.text);
  assertEquals(other.response.headers.get("x-gateway-redacted"), "unrestored=1", other.text);
  assert(TOKEN.test(other.text) && !other.text.includes("bob.miller"), other.text);
});

Deno.test("a response in the background is restored when it is read, although its stream broke off", async () => {
  let token = "";
  const fetch: Fetch = async (_url, { method, body }) => {
    const text = await new Response(body ?? "").text();
    token = TOKEN.exec(text)?.[0] ?? token;
    const response = { ...nativeResponse(token), status: "in_progress", output: [] };
    const created = { type: "response.created", sequence_number: 0, response };
    const answer = method === "POST"
      ? `event: response.created\ndata: ${JSON.stringify(created)}\n\n`
      : JSON.stringify(nativeResponse(token));
    return new Response(streamOf([new TextEncoder().encode(answer)]), {
      headers: { "content-type": method === "POST" ? "text/event-stream" : "application/json" },
    });
  };
  const config = configOf(true).replace("responses_lifecycle", "background_responses: true, $&");
  const { app, reported } = testGateway(config, scriptedWorld({ fetch }));
  const headers = {
    authorization: "Bearer key-a-0123456789abcdef",
    "content-type": "application/json",
  };
  const fields = {
    model: "m",
    input: `Mail ${VALUE}`,
    stream: true,
    background: true,
    store: true,
  };
  const url = "http://gateway.test/v1/responses";
  const streamed = await app(
    new Request(url, { method: "POST", headers, body: JSON.stringify(fields) }),
  );
  const events = await streamed.text();
  assert(events.includes("response.created"), events);
  assert((await reported(1)).failure !== null);
  const read = await (await app(new Request(`${url}/resp_1`, { headers }))).text();
  assert(read.includes(`to ${VALUE}`), read);
});

/** An answer with the next of the IDs `resp_1`, `resp_2`, and so on. */
function countedResponses(): (token: string) => object {
  let count = 0;
  return (token) => ({ ...nativeResponse(token), id: `resp_${++count}` });
}

/** Returns the request of a turn, which continues the response with this number; 0 for none. */
function turnAfter(previous: number, input: string): object {
  const id = previous === 0 ? {} : { previous_response_id: `resp_${previous}` };
  return { model: "m", input, store: true, ...id };
}

function tokensOf(sent: readonly string[]): (string | undefined)[] {
  return sent.map((text) => TOKEN.exec(text)?.[0]);
}

/** Returns the tokens of one value in the turns of a chain of responses of a provider. */
async function chainTokens(codec: RecordCodec | null): Promise<(string | undefined)[]> {
  const sent: string[] = [];
  const turns = ["Mail", "Write to", "Call"].map((word, at) => async (gateway: StoredGateway) => {
    const turn = turnAfter(at, `${word} ${VALUE}`);
    const { text } = await gateway.call("POST", "/v1/responses", turn);
    assert(text.includes(`to ${VALUE}`), text);
    if (codec !== null) sent.push(...gateway.sent);
  });
  if (codec !== null) await afterRestarts(codec, countedResponses(), turns);
  else {
    const gateway = gatewayOf(configOf(true), countedResponses());
    for (const turn of turns) await turn(gateway);
    sent.push(...gateway.sent);
  }
  assert(!sent.join().includes("bob.miller"), sent.join());
  return tokensOf(sent);
}

Deno.test("a value has one token in all turns of a chain of responses that a provider stores, also after restarts of a store that encrypts", async () => {
  for (const codec of [null, newEncryptingCodec([new Uint8Array(32).fill(7)])]) {
    const [first, ...others] = await chainTokens(codec);
    assert(first !== undefined);
    assertEquals(others, [first, first]);
  }
});

Deno.test("a value has another token in each chain of responses that a provider stores, whatever its turn", async () => {
  const gateway = gatewayOf(configOf(true), countedResponses());
  for (const word of ["One", "Two"]) {
    await gateway.call("POST", "/v1/responses", turnAfter(0, `${word}, please`));
  }
  for (const previous of [1, 2]) {
    await gateway.call("POST", "/v1/responses", turnAfter(previous, `Mail ${VALUE}`));
  }
  const [, , one, other] = tokensOf(gateway.sent);
  assert(one !== undefined && other !== undefined && one !== other, gateway.sent.join());
});

Deno.test("a conversation that a provider stores has one token for a value of its items and turns, although responses do not name it", async () => {
  const config = configOf(true).replace("responses_lifecycle", "conversations: true, $&");
  const items: object[] = [];
  let count = 0;
  const gateway = gatewayOf(config, (token, body) => {
    const { items: added = [], conversation } = JSON.parse(body);
    items.push(...added.map((item: object) => ({ ...item, id: `msg_${++count}` })));
    if (conversation !== undefined) return { ...nativeResponse(token), id: `resp_${++count}` };
    return count < 2
      ? { id: "conv_1", object: "conversation", created_at: 1, metadata: {} }
      : { object: "list", data: items, has_more: false };
  });
  const message = (content: string) => ({ type: "message", role: "user", content });
  const path = "/v1/conversations/conv_1/items";
  await gateway.call("POST", "/v1/conversations", { items: [message(`Mail ${VALUE}`)] });
  await gateway.call("POST", path, { items: [message(`It is ${VALUE}`)] });
  const turn = await gateway.call("POST", "/v1/responses", {
    model: "m",
    conversation: "conv_1",
    input: `Who is ${VALUE}, and eve@example.com?`,
  });
  assert(turn.text.includes(`to ${VALUE}`), turn.text);
  assert(!gateway.sent.join().includes("@example.com"), gateway.sent.join());
  const [created, added, asked] = tokensOf(gateway.sent);
  assert(created !== undefined);
  assertEquals([added, asked], [created, created]);
  // The provider has added the turn to its conversation, by the tokens of the request.
  const [, second] = (gateway.sent[2] ?? "").match(new RegExp(TOKEN, "g")) ?? [];
  items.push({ ...message(`Who is ${created}, and ${second}?`), id: "msg_9" });
  await gateway.call("POST", path, { items: [message("Bye")] });
  const read = await gateway.call("GET", path);
  for (const text of [`Mail ${VALUE}`, `It is ${VALUE}`, `is ${VALUE}, and eve@example.com?`]) {
    assert(read.text.includes(text), read.text);
  }
  assertEquals(read.response.headers.get("x-gateway-redacted"), null);
});

Deno.test("a turn of a conversation that a provider stores is restored when it is read, although its answer was refused or broken", async () => {
  const refusing = [
    "find: [email], action: replace",
    "words: [stop], phase: response, action: refuse",
  ];
  for (const answer of [nativeResponse("stop"), {}]) {
    const config = configOf(true).replace("responses_lifecycle", "conversations: true, $&")
      .replace(/\nprivacy:[^]*/, privacyConfig(refusing));
    const items: object[] = [];
    const gateway = gatewayOf(config, (_token, body) => {
      const { conversation, input, items: added } = JSON.parse(body);
      if (input !== undefined) {
        items.push({ id: "msg_1", type: "message", role: "user", content: input });
      }
      if (conversation !== undefined) return answer;
      return added === undefined
        ? { id: "conv_1", object: "conversation", created_at: 1, metadata: {} }
        : { object: "list", data: items, has_more: false };
    });
    await gateway.call("POST", "/v1/conversations", {});
    const turn = { model: "m", conversation: "conv_1", input: `Mail ${VALUE}` };
    const failed = await gateway.call("POST", "/v1/responses", turn);
    assert(failed.response.status >= 400 && TOKEN.test(gateway.sent[1] ?? ""), failed.text);
    const path = "/v1/conversations/conv_1/items";
    await gateway.call("POST", path, {
      items: [{ type: "message", role: "user", content: "Bye" }],
    });
    const { text } = await gateway.call("GET", path);
    assert(text.includes(`Mail ${VALUE}`), text);
  }
});

Deno.test("a conversation that the gateway stores keeps its tokens over turns, also where sessions are those of the header alone", async () => {
  for (const sessions of ["agents", "header"]) {
    const config = configOf(false).replace("routing:", `routing:\n  sessions: ${sessions}`);
    const gateway = gatewayOf(config, (token) => completion(`to ${token}`));
    const { id } = JSON.parse((await gateway.call("POST", "/v1/conversations", {})).text);
    for (const word of ["Mail", "Write to", "Call"]) {
      const body = { model: "m", conversation: id, input: `${word} ${VALUE}` };
      const { text } = await gateway.call("POST", "/v1/responses", body);
      assert(text.includes(`to ${VALUE}`), text);
    }
    const found = gateway.sent.map((text) => text.match(new RegExp(TOKEN, "g")) ?? []);
    assertEquals([new Set(found.flat()).size, found.map(({ length }) => length)], [1, [1, 3, 5]]);
  }
});

Deno.test("a value in the text of a structured output is escaped when its stored response is read", async () => {
  const value = 'Blue "Falcon"';
  const config = configOf(true).replace("find: [email]", `words: ['${value}']`);
  const format = { type: "json_schema", name: "x", schema: {}, strict: false };
  const gateway = gatewayOf(config, (_token, body) => {
    const [token = ""] = /qz(?:[a-z]{2}){8}value/.exec(body) ?? [];
    const { output: [item], ...rest } = nativeResponse("");
    const content = [{ type: "output_text", text: JSON.stringify({ to: token }), annotations: [] }];
    return { ...rest, text: { format }, output: [{ ...item, content }] };
  });
  const request = { model: "m", input: `Mail ${value}`, store: true, text: { format } };
  const created = await gateway.call("POST", "/v1/responses", request);
  const read = await gateway.call("GET", "/v1/responses/resp_1");
  for (const { text } of [created, read]) {
    assertEquals(JSON.parse(JSON.parse(text).output[0].content[0].text), { to: value });
  }
});

Deno.test("a value in the text of a structured output is escaped when its stored response is cancelled, or its stream is read again", async () => {
  const value = 'Blue "Falcon"';
  const format = { type: "json_schema", name: "x", schema: {}, strict: false };
  let token = "";
  const fetch: Fetch = async (url, { method, body }) => {
    const text = await new Response(body ?? "").text();
    token = /qz(?:[a-z]{2}){8}value/.exec(text)?.[0] ?? token;
    const { output: [item], ...rest } = nativeResponse("");
    const answered = JSON.stringify({ to: token });
    const content = [{ type: "output_text", text: answered, annotations: [] }];
    const response = { ...rest, text: { format }, output: [{ ...item, content }] };
    const isStream = method === "GET" && String(url).includes("stream=true");
    const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
    const events = [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      ...[answered.slice(0, 12), answered.slice(12)].map((delta) => (
        { type: "response.output_text.delta", ...place, delta }
      )),
      { type: "response.completed", response },
    ].map((event, sequence_number) =>
      `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`
    );
    const from = 1 + Number(new URL(String(url)).searchParams.get("starting_after") ?? -1);
    const answer = isStream ? events.slice(from).join("") : JSON.stringify(response);
    return new Response(streamOf([new TextEncoder().encode(answer)]), {
      headers: { "content-type": isStream ? "text/event-stream" : "application/json" },
    });
  };
  const config = configOf(true)
    .replace("responses_lifecycle", "response_cancellation: true, background_responses: true, $&")
    .replace("find: [email]", `words: ['${value}']`);
  const { app } = testGateway(config, scriptedWorld({ fetch }));
  const call = async (method: string, path: string, body?: object) => {
    const response = await app(
      new Request(`http://gateway.test/v1/responses${path}`, {
        method,
        headers: {
          authorization: "Bearer key-a-0123456789abcdef",
          "content-type": "application/json",
        },
        ...body !== undefined && { body: JSON.stringify(body) },
      }),
    );
    return await response.text();
  };
  const request = { model: "m", input: `Mail ${value}`, store: true, background: true };
  await call("POST", "", { ...request, text: { format } });
  const cancelled = await call("POST", "/resp_1/cancel");
  assertEquals(JSON.parse(JSON.parse(cancelled).output[0].content[0].text), { to: value });
  const whole = await call("GET", "/resp_1?stream=true");
  const events = whole.split("\n\n");
  const deltas = events.flatMap((event) => /data: (.*output_text.delta.*)/.exec(event)?.[1] ?? []);
  const read = deltas.map((delta) => JSON.parse(delta).delta).join("");
  assertEquals(JSON.parse(read), { to: value }, whole);
  // Also behind an event in which the token has begun.
  for (const after of [0, 1, 2]) {
    const rest = await call("GET", `/resp_1?stream=true&starting_after=${after}`);
    assertEquals(rest, events.slice(after + 1).join("\n\n"));
  }
});

Deno.test("a value in the JSON text of a stored completion is escaped when it is read, changed or listed, and no other one", async () => {
  const value = 'Blue "Falcon"';
  const format = { type: "json_schema", json_schema: { name: "x", schema: {}, strict: false } };
  const made: ReturnType<typeof completion>[] = [];
  let token = "";
  const fetch: Fetch = async (url, { method, body }) => {
    const text = await new Response(body ?? "").text();
    const [, rest = ""] = new URL(String(url)).pathname.split("/completions");
    const [, id = "", messages = ""] = rest.split("/");
    const isNew = method === "POST" && id === "";
    token = /qz(?:[a-z]{2}){8}value/.exec(text)?.[0] ?? token;
    if (isNew) {
      const content = text.includes("json_schema") ? JSON.stringify({ to: token }) : `to ${token}`;
      made.push(completion(content, `chatcmpl-${made.length}`));
    }
    const question = { id: `${id}-0`, role: "user", content: `Mail ${token}` };
    const data = messages === "" ? made : [question];
    const answer = isNew ? made.at(-1) : made.find((one) => one.id === id);
    const isList = messages !== "" || answer === undefined;
    return new Response(
      streamOf([
        new TextEncoder().encode(JSON.stringify(isList ? { object: "list", data } : answer)),
      ]),
      { headers: { "content-type": "application/json" } },
    );
  };
  const config = configOf(false).replace("find: [email]", `words: ['${value}']`);
  const { app } = testGateway(config, scriptedWorld({ fetch }));
  const call = async (method: string, path = "", body?: object) => {
    const headers = {
      authorization: "Bearer key-a-0123456789abcdef",
      "content-type": "application/json",
    };
    const url = `http://gateway.test/v1/chat/completions${path}`;
    const init = { method, headers, ...body !== undefined && { body: JSON.stringify(body) } };
    return JSON.parse(await (await app(new Request(url, init))).text());
  };
  const request = {
    model: "m",
    store: true,
    messages: [{ role: "user", content: `Mail ${value}` }],
  };
  await call("POST", "", request);
  await call("POST", "", { ...request, response_format: format });
  const contentOf = (one: ReturnType<typeof completion>) => one.choices[0]?.message.content ?? "";
  const { data } = await call("GET");
  const read = await call("GET", "/chatcmpl-1");
  const changed = await call("POST", "/chatcmpl-1", { metadata: { a: "b" } });
  for (const one of [data[1], read, changed]) {
    assertEquals(JSON.parse(contentOf(one)), { to: value });
  }
  for (const one of [data[0], await call("GET", "/chatcmpl-0")]) {
    assertEquals(contentOf(one), `to ${value}`);
  }
  assertEquals((await call("GET", "/chatcmpl-1/messages")).data[0].content, `Mail ${value}`);
});

Deno.test("the stored arguments of a tool have a value of several lines as the client wrote it", async () => {
  const key = "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----";
  const config = configOf(false).replace("[email]", "[private_key]");
  const gateway = gatewayOf(config, () => completion("Yes"));
  const call = {
    type: "function_call",
    call_id: "c",
    name: "f",
    arguments: JSON.stringify({ key }),
  };
  const created = await gateway.call("POST", "/v1/responses", {
    model: "m",
    input: [call, { type: "function_call_output", call_id: "c", output: key }],
  });
  assertEquals(new Set(gateway.sent[0]?.match(/qz[a-z]{16}/g)).size, 1, gateway.sent[0]);
  const { id } = JSON.parse(created.text);
  const { text } = await gateway.call("GET", `/v1/responses/${id}/input_items?order=asc`);
  const [first, second] = JSON.parse(text).data;
  assertEquals([first.arguments, second.output], [call.arguments, key]);
});

Deno.test("the stored input of a local response has the label of a masked value", async () => {
  const config = configOf(false).replace("action: replace", "action: mask");
  const gateway = gatewayOf(config, () => completion("Yes"));
  const created = await gateway.call("POST", "/v1/responses", {
    model: "m",
    input: `Mail ${VALUE}`,
  });
  const { id } = JSON.parse(created.text);
  const { text } = await gateway.call("GET", `/v1/responses/${id}/input_items`);
  assert(text.includes("Mail [email]") && !text.includes(VALUE), text);
});

Deno.test("keywords that a token breaks are named also where only earlier turns have a value", async () => {
  const schema = {
    type: "object",
    additionalProperties: false,
    required: ["to"],
    properties: { to: { type: "string", pattern: "@" } },
  };
  const format = { type: "json_schema", name: "x", schema, strict: false };
  for (const isNative of [true, false]) {
    const gateway = gatewayOf(
      configOf(isNative),
      isNative ? nativeResponse : () => completion("{}"),
    );
    const turn = async (input: string, more: object) => {
      const body = { model: "m", input, store: true, text: { format }, ...more };
      const { response, text } = await gateway.call("POST", "/v1/responses", body);
      const named = response.headers.get("x-gateway-lossy")?.includes("properties.to.pattern");
      return { id: JSON.parse(text).id, named: named === true };
    };
    const clean = await turn("Hello", {});
    assertEquals((await turn("Again", { previous_response_id: clean.id })).named, false);
    const { id } = await turn(`Mail ${VALUE}`, {});
    assertEquals((await turn("Again", { previous_response_id: id })).named, true);
  }
});

Deno.test("the items of a conversation come back also where the ID in the path is encoded", async () => {
  const config = configOf(true).replace("responses_lifecycle", "conversations: true, $&");
  const gateway = gatewayOf(config, (_token, body) => {
    const { items } = JSON.parse(body);
    return { id: "conv:1", object: "conversation", created_at: 1, metadata: {}, items };
  });
  const item = { type: "message", role: "user", content: `Mail ${VALUE}` };
  await gateway.call("POST", "/v1/conversations", { items: [item] });
  const read = await gateway.call("GET", "/v1/conversations/conv%3A1");
  assert(read.text.includes(`Mail ${VALUE}`), read.text);
});
