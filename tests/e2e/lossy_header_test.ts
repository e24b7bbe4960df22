import { assert, assertEquals } from "../support/assert.ts";
import { COMPLETION } from "../support/chat_call.ts";
import { type ServedGateway, serveGateway } from "../support/gateway.ts";
import { startUpstream, type UpstreamExchange } from "../support/upstream.ts";

type Fields = Readonly<Record<string, unknown>>;

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "x",
  content: [{ type: "text", text: "Yes." }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
};

const LOCAL = {
  model: "x",
  created_at: "2026-08-01T10:00:00Z",
  message: { role: "assistant", content: "Yes." },
  done: true,
  done_reason: "stop",
};

/** The stream of the Messages API for the same response. */
const EVENTS = [
  { type: "message_start", message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "Yes." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
];

/** Responds in the protocol of the path; the model `down` is not available. */
async function respondTo({ request: { path, body }, json, sse }: UpstreamExchange): Promise<void> {
  if (body.includes('"model":"down"')) await json(503, { error: { message: "Down." } });
  else if (path.endsWith("/v1/messages") && body.includes('"stream":true')) {
    await sse(EVENTS.map((event) => `data: ${JSON.stringify(event)}\n\n`));
  } else if (path.endsWith("/v1/messages")) await json(200, MESSAGE);
  else if (path.endsWith("/api/chat")) await json(200, LOCAL);
  else await json(200, COMPLETION);
}

/**
 * One provider of each type that is translated for, and compat. Route `NAME` uses provider `NAME`.
 */
function configFor(url: string): string {
  const capabilities = "capabilities: {structured_outputs: true}";
  return `
caching: {enabled: true}
providers:
  messages: {type: messages, base_url: "${url}", ${capabilities}}
  local: {type: local, base_url: "${url}", ${capabilities}}
  compat: {type: compat, base_url: "${url}/v1"}
routing:
  routes:
    - name: to_compat
      match: {headers: {x-to: compat}}
      targets: [{provider: messages, model: down}]
      fallback: [{provider: compat, model: x}]
    - name: to_messages
      match: {headers: {x-to: messages}}
      targets: [{provider: compat, model: down}]
      fallback: [{provider: messages, model: x}]
    - name: main
      targets: [{provider: messages}, {provider: local}, {provider: compat}]
retry: {enabled: false}
circuit_breaker: {enabled: false}
`;
}

interface Reached {
  readonly status: number;
  readonly lossy: string | null;
  readonly cache: string | null;
  readonly body: string;
}

async function send(
  { url }: ServedGateway,
  path: string,
  body: Fields,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reached> {
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, init);
  const text = await response.text();
  assertEquals(response.status, 200, text);
  return {
    status: response.status,
    lossy: response.headers.get("x-gateway-lossy"),
    cache: response.headers.get("x-gateway-cache-status"),
    body: text,
  };
}

async function withGateway(run: (gateway: ServedGateway) => Promise<void>): Promise<void> {
  await using upstream = startUpstream(respondTo);
  await using gateway = serveGateway(configFor(upstream.url));
  await run(gateway);
}

const CHAT = "/v1/chat/completions";
const RESPONSES = "/v1/responses";
const PNG = "data:image/png;base64,iVBORw0K";
const USER = { role: "user", content: "Hi" };
const SCHEMA = {
  name: "answer",
  description: "d",
  strict: false,
  schema: { type: "object", additionalProperties: false },
};
const FORMAT = { type: "json_schema", json_schema: SCHEMA };

/** A Chat request with all that the Messages protocol carries in part. */
const DIALOGUE = {
  model: "messages/x",
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "image_url", image_url: { url: PNG, detail: "high" } }] },
    { role: "assistant", content: "Yes", refusal: "No." },
    { role: "system", content: "Be long." },
    USER,
    { role: "assistant", content: [{ type: "refusal", refusal: "Never." }] },
    USER,
    { role: "assistant", content: "I say" },
  ],
  response_format: FORMAT,
};

const LOST = [
  "messages[1].content[0].image_url.detail",
  "messages[2].refusal",
  "messages[3]",
  "messages[5].content[0].refusal",
  "messages[7]",
  "response_format.json_schema.name",
  "response_format.json_schema.description",
  "response_format.json_schema.strict",
].join(", ");

Deno.test("X-Gateway-Lossy names what a messages provider gets of a Chat request only in part", () =>
  withGateway(async (gateway) => {
    assertEquals((await send(gateway, CHAT, DIALOGUE)).lossy, LOST);
    const streamed = await send(gateway, CHAT, { ...DIALOGUE, stream: true });
    assertEquals(streamed.lossy, LOST);
    assert(streamed.body.includes("data: [DONE]"));
  }));

Deno.test("X-Gateway-Lossy names what a local runtime gets of a Chat request only in part", () =>
  withGateway(async (gateway) => {
    const image = { type: "image_url", image_url: { url: PNG } };
    const parameters = (more: Fields) => ({
      type: "object",
      properties: { a: { enum: ["b"], ...more } },
    });
    const { lossy } = await send(gateway, CHAT, {
      model: "local/x",
      messages: [
        { role: "user", content: [image, { type: "text", text: "What?" }, image] },
        { role: "assistant", content: null, refusal: "No." },
        { role: "user", content: [image] },
      ],
      tools: [
        { type: "function", function: { name: "f", parameters: parameters({}) } },
        { type: "function", function: { name: "g", parameters: parameters({ pattern: "b" }) } },
      ],
      response_format: FORMAT,
    });
    assertEquals(
      lossy,
      [
        "messages[0].content[0]",
        "messages[0].content[2]",
        "messages[1].refusal",
        "tools[1].function.parameters",
        "response_format.json_schema.name",
        "response_format.json_schema.description",
        "response_format.json_schema.strict",
      ].join(", "),
    );
  }));

Deno.test("X-Gateway-Lossy of a Responses request has the client's own paths", () =>
  withGateway(async (gateway) => {
    const { json_schema: _schema, ...format } = { ...FORMAT, ...SCHEMA };
    const body = {
      model: "messages/x",
      store: false,
      instructions: "Be brief.",
      safety_identifier: "s",
      unheard_of: { a: 1 },
      input: [
        { role: "user", content: [{ type: "input_image", image_url: PNG, detail: "high" }] },
        {
          role: "assistant",
          phase: "commentary",
          content: [
            {
              type: "output_text",
              text: "Yes",
              annotations: [{ type: "file_path", file_id: "f", index: 0 }],
            },
            { type: "refusal", refusal: "No." },
          ],
        },
        { role: "developer", content: "Be long." },
        USER,
      ],
      text: { format },
    };
    const expected = [
      "safety_identifier",
      "unheard_of",
      "input[0].content[0].detail",
      "input[1].phase",
      "input[1].content[0].annotations",
      "input[1].content",
      "input[2]",
      "text.format.name",
      "text.format.description",
      "text.format.strict",
    ].join(", ");
    assertEquals((await send(gateway, RESPONSES, body)).lossy, expected);
    const streamed = await send(gateway, RESPONSES, { ...body, stream: true });
    assertEquals(streamed.lossy, expected);
    assert(streamed.body.includes("response.completed"));
  }));

Deno.test("a response to a request that loses nothing has no X-Gateway-Lossy", () =>
  withGateway(async (gateway) => {
    for (const model of ["messages/x", "local/x", "compat/x"]) {
      const chat = {
        model,
        messages: [{ role: "system", content: "Be brief." }, USER],
        n: 1,
        store: false,
        response_format: { type: "text" },
        tools: [{ type: "function", function: { name: "f", strict: null } }],
      };
      assertEquals((await send(gateway, CHAT, chat)).lossy, null, model);
      const none = { model, input: "Hi", truncation: "disabled", unheard_of: null, user: null };
      assertEquals((await send(gateway, RESPONSES, none)).lossy, null, model);
    }
    assertEquals((await send(gateway, CHAT, { ...DIALOGUE, model: "compat/x" })).lossy, null);
  }));

Deno.test("X-Gateway-Lossy of a cached response is that of the target whose response it is", () =>
  withGateway(async (gateway) => {
    const first = await send(gateway, CHAT, DIALOGUE);
    const second = await send(gateway, CHAT, DIALOGUE);
    assertEquals([first.cache, second.cache], ["MISS", "HIT"]);
    assertEquals([first.lossy, second.lossy], [LOST, LOST]);
    const other = { ...DIALOGUE, model: "compat/x" };
    await send(gateway, CHAT, other);
    const hit = await send(gateway, CHAT, other);
    assertEquals([hit.cache, hit.lossy], ["HIT", null]);
  }));

Deno.test("after a fallback X-Gateway-Lossy is that of the target that responded", () =>
  withGateway(async (gateway) => {
    const body = { ...DIALOGUE, model: "auto" };
    assertEquals((await send(gateway, CHAT, body, { "x-to": "compat" })).lossy, null);
    assertEquals((await send(gateway, CHAT, body, { "x-to": "messages" })).lossy, LOST);
  }));

Deno.test("X-Gateway-Lossy has at most 1 kB, with three full stops for the paths that do not fit", () =>
  withGateway(async (gateway) => {
    const refusal = { role: "assistant", content: null, refusal: "No." };
    const messages = [...Array.from({ length: 2_000 }, () => [USER, refusal]).flat(), USER];
    const { lossy } = await send(gateway, CHAT, { model: "messages/x", messages });
    assert(lossy !== null && lossy.length <= 1024 && lossy.length > 980);
    const paths = lossy.split(", ");
    assertEquals(paths.at(-1), "...");
    assertEquals(
      paths.slice(0, -1),
      paths.slice(0, -1).map((_path, index) => `messages[${2 * index + 1}].refusal`),
    );
    const long = { model: "messages/x", input: "Hi", ["x".repeat(5_000)]: 1 };
    assertEquals((await send(gateway, RESPONSES, long)).lossy, "...");
    const both = { model: "messages/x", input: "Hi", a: 1, ["é".repeat(1_000)]: 1 };
    assertEquals((await send(gateway, RESPONSES, both)).lossy, "a, ...");
  }));

Deno.test("characters that a header or its list may not have are in percent-encoding", () =>
  withGateway(async (gateway) => {
    const names = ["a\r\nset-cookie: b", "c,d", "é", "\u{1F600}", "50%", "\ud800"];
    const { lossy } = await send(gateway, RESPONSES, {
      model: "messages/x",
      input: "Hi",
      ...Object.fromEntries(names.map((name) => [name, 1])),
    });
    assertEquals(
      lossy,
      "a%0D%0Aset-cookie:%20b, c%2Cd, %C3%A9, %F0%9F%98%80, 50%25, %EF%BF%BD",
    );
  }));
