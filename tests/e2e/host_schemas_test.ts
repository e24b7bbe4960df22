import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { streamOf } from "../support/pieces.ts";
import { type Fetch, scriptedWorld } from "../support/world.ts";

const SCHEMA = {
  type: "object",
  properties: { n: { type: "integer", enum: [1, 20] }, t: { type: "string", maxLength: 3 } },
  required: ["n", "t"],
  additionalProperties: false,
};

/** One response of the host: a call with these arguments, in pieces of a few characters. */
function responseOf(text: string, stream: boolean, size: number): string {
  const head = { id: "c", created: 1, model: "m" };
  const call = (more: object) => ({ index: 0, ...more });
  if (!stream) {
    const called = { id: "call_1", type: "function", function: { name: "f", arguments: text } };
    const message = { role: "assistant", content: null, tool_calls: [called] };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    return JSON.stringify({ ...head, object: "chat.completion", choices });
  }
  const pieces: object[] = [
    call({ id: "call_1", type: "function", function: { name: "f", arguments: "" } }),
  ];
  for (let at = 0; at < text.length; at += size) {
    pieces.push(call({ function: { arguments: text.slice(at, at + size) } }));
  }
  const deltas = [{ role: "assistant" }, ...pieces.map((piece) => ({ tool_calls: [piece] }))];
  const choices = [
    ...deltas.map((delta) => ({ index: 0, delta, finish_reason: null })),
    { index: 0, delta: {}, finish_reason: "tool_calls" },
  ];
  const records = choices.map((choice) =>
    JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [choice] })
  );
  return [...records, "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
}

/** The request of a client API with one function, and the texts of its arguments in a response. */
interface Api {
  readonly path: string;
  readonly strictPath: string;
  body(strict: boolean): JsonObject;
  readonly pieces: RegExp;
}

const HI = { role: "user", content: "Hi" };

const APIS: Readonly<Record<string, Api>> = {
  chat: {
    path: "/v1/chat/completions",
    strictPath: "tools[0].function.strict",
    body: (strict) => ({
      messages: [HI],
      tools: [{ type: "function", function: { name: "f", parameters: SCHEMA, strict } }],
    }),
    pieces: /"arguments":("(?:[^"\\]|\\.)*")/g,
  },
  responses: {
    path: "/v1/responses",
    strictPath: "tools[0].strict",
    body: (strict) => ({
      input: [HI],
      store: false,
      tools: [{ type: "function", name: "f", parameters: SCHEMA, strict }],
    }),
    pieces: /function_call_arguments.done"[^\n]*"arguments":("(?:[^"\\]|\\.)*")/g,
  },
  messages: {
    path: "/v1/messages",
    strictPath: "tools.0.strict",
    body: (strict) => ({
      max_tokens: 9,
      messages: [HI],
      tools: [{ name: "f", input_schema: SCHEMA, strict }],
    }),
    pieces: /"partial_json":("(?:[^"\\]|\\.)*")/g,
  },
};

/** The response of a gateway to the request of an API, and what the host was sent. */
async function ask(
  { path, body }: Api,
  text: string,
  { strict = false, stream = false, size = 9, settings = "", more = {} } = {},
) {
  let sent = "";
  const fetch: Fetch = async (_url, init) => {
    sent = await new Response(init.body ?? null).text();
    return new Response(streamOf([new TextEncoder().encode(responseOf(text, stream, size))]));
  };
  const { app } = testGateway(
    `
providers:
  up:
    type: compat
    base_url: "http://up.test"
    api_key: sk-1
    compatibility_profile: gemini
    capabilities: {structured_outputs: true}
    ${settings}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
`,
    scriptedWorld({ fetch }),
  );
  const url = `http://gateway.test${path}`;
  const request = { model: "m", stream, ...body(strict), ...more };
  const response = await app(
    new Request(url, { method: "POST", body: JSON.stringify(request) }),
  );
  const { status, headers } = response;
  return {
    status,
    verified: headers.get("x-gateway-verified"),
    lossy: headers.get("x-gateway-lossy"),
    text: await response.text(),
    sent,
  };
}

/** The arguments in a whole response. */
function argumentsIn(text: string): unknown {
  const found = /"arguments":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  if (found !== undefined) return JSON.parse(JSON.parse(found));
  const body = parseJson(text);
  const content = isObject(body) && Array.isArray(body.content) ? body.content : [];
  return content.filter(isObject).find(({ type }) => type === "tool_use")?.input;
}

const HOST = '{"n":"20","t":"20"}', CLIENT = { n: 20, t: "20" };

for (const [name, api] of Object.entries(APIS)) {
  Deno.test(`a host gets the numbers of an enum as texts, and a client of ${name} gets numbers`, async () => {
    const { sent, text, lossy } = await ask(api, HOST);
    assertStringIncludes(sent, '"n":{"enum":["1","20"],"type":"string"}');
    assertEquals(argumentsIn(text), CLIENT);
    assertEquals(lossy?.includes("enum"), false);
  });

  Deno.test(`a stream to a client of ${name} has numbers again, whatever its pieces`, async () => {
    for (let size = 1; size <= HOST.length; size++) {
      const { text } = await ask(api, HOST, { stream: true, size });
      const pieces = [...text.matchAll(api.pieces)].map(([, piece = '""']) => JSON.parse(piece));
      assertEquals(pieces.join(""), '{"n":20,"t":"20"}');
    }
  });

  Deno.test(`a strict call is compared with the own schema of a client of ${name}`, async () => {
    for (const stream of [false, true]) {
      const kept = await ask(api, HOST, { strict: true, stream });
      assertEquals([kept.status, kept.verified], [200, api.strictPath]);
      // The host cannot enforce what was left out of its schema.
      for (const broken of ['{"n":"20","t":"20","more":1}', '{"n":"3","t":"20"}']) {
        const { status, text } = await ask(api, broken, { strict: true, stream });
        assertEquals(status, 502);
        assertStringIncludes(text, api.strictPath);
      }
    }
  });

  Deno.test(`without verification the strict promise to a client of ${name} is named as lost`, async () => {
    const { status, lossy, verified } = await ask(api, '{"n":"3","t":"20"}', {
      strict: true,
      settings: "verify: false",
    });
    assertEquals([status, verified], [200, null]);
    assertStringIncludes(lossy ?? "", api.strictPath);
  });
}

Deno.test("the strict promise of a Chat request for several choices is named as lost", async () => {
  assert(APIS.chat !== undefined);
  const { lossy, verified } = await ask(APIS.chat, HOST, { strict: true, more: { n: 2 } });
  assertEquals(verified, null);
  assertStringIncludes(lossy ?? "", "tools[0].function.strict");
});

Deno.test("text and other calls of a Chat stream flow while no strict call is open", async () => {
  assert(APIS.chat !== undefined);
  const plain = await ask(APIS.chat, HOST, { stream: true });
  const strict = await ask(APIS.chat, HOST, { strict: true, stream: true });
  assertEquals(strict.text, plain.text);
});
