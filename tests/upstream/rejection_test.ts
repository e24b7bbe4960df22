import type { JsonObject } from "../../src/core/json/json.ts";
import { MAX_ERROR_STEPS } from "../../src/upstream/rejection.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, type Got, got } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const MIB = 1024 * 1024;

interface Rejected {
  readonly type?: "compat" | "messages" | "local";
  readonly key?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly stream?: boolean;
}

/** Returns the response of the client where the provider responds like that. */
async function rejected(
  status: number,
  body: JsonObject | string,
  {
    type = "compat",
    key = "sk-upstream",
    url = "http://up",
    headers = {},
    stream = false,
  }: Rejected = {},
): Promise<Got> {
  const world = scriptedWorld({ fetch: () => answers(status, body, headers) });
  const config = JSON.stringify({
    providers: { up: { type, base_url: url, api_key: key } },
    routing: { routes: [{ name: "r", targets: [{ provider: "up" }] }] },
    retry: { enabled: false },
  });
  const gateway = testGateway(config, world);
  return await got(await gateway.app(chatRequest({ body: { stream, max_tokens: 5 } })));
}

Deno.test("an error object of a compat provider is passed on as the same bytes", async () => {
  const text = ' {"error" : {"message":"\\u0041","param":null,"n":1.0,"x":[]},\n "extra":1e400}\n';
  for (const stream of [false, true]) {
    const answer = await rejected(400, text, { stream });
    assertEquals([answer.status, answer.text], [400, text]);
    assertEquals(answer.headers.get("content-type"), "application/json");
  }
});

Deno.test("an error body of exactly 1 MiB is passed on, a larger one is not", async () => {
  const [before, behind] = ['{"error":{"message":"', '"}}'];
  const text = (bytes: number) =>
    before + "x".repeat(bytes - before.length - behind.length) + behind;
  const whole = await rejected(400, text(MIB));
  assert(whole.text === text(MIB));
  const larger = await rejected(400, text(MIB + 1));
  assertEquals(larger.error, {
    message: "The provider responded with status 400.",
    type: "invalid_request_error",
    param: null,
    code: null,
  });
});

Deno.test("an error of another shape becomes an envelope of its fields", async () => {
  const fields = { message: "No.", type: "t", param: "p", code: "c" };
  assertEquals((await rejected(400, fields)).error, fields);
  assertEquals((await rejected(404, { error: "No such model." })).error, {
    message: "No such model.",
    type: "invalid_request_error",
    param: null,
    code: null,
  });
  assertEquals((await rejected(404, { error: "No such model." }, { type: "local" })).error, {
    message: "No such model.",
    type: "invalid_request_error",
    param: null,
    code: null,
  });
  const overloaded = { type: "error", error: { type: "overloaded_error", message: "Busy." } };
  const messages = await rejected(529, overloaded, { type: "messages" });
  assertEquals([messages.status, messages.error.type, messages.error.message], [
    529,
    "overloaded_error",
    "Busy.",
  ]);
});

Deno.test("text that is not JSON is not exposed", async () => {
  for (const body of ["<html>proxy at 10.0.0.1</html>", "", "null", "[1]", '"text"', '{"a":']) {
    const answer = await rejected(500, body, { headers: { "content-type": "text/html" } });
    assertEquals(answer.status, 500);
    assertEquals(answer.headers.get("content-type"), "application/json");
    assertEquals(answer.error, {
      message: "The provider responded with status 500.",
      type: "server_error",
      param: null,
      code: null,
    });
  }
});

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  404: "invalid_request_error",
  422: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  409: "conflict_error",
  429: "rate_limit_error",
  500: "server_error",
  503: "server_error",
  529: "server_error",
  402: "upstream_error",
  418: "upstream_error",
  451: "upstream_error",
};

for (const [status, type] of Object.entries(TYPES)) {
  Deno.test(`an error ${status} without a type is a ${type}`, async () => {
    const answer = await rejected(Number(status), { message: "No." });
    assertEquals([answer.status, answer.error.type], [Number(status), type]);
  });
}

Deno.test("a status that the gateway uses itself, or that is not an error, becomes 502", async () => {
  for (const status of [201, 202, 206, 226, 299, 300, 302, 307, 308, 399, 499]) {
    const answer = await rejected(status, { error: { message: "x" } });
    assertEquals([answer.status, answer.error.type, answer.error.code, answer.error.param], [
      502,
      "upstream_error",
      "invalid_upstream_status",
      null,
    ], String(status));
  }
});

Deno.test("values of the query of base_url with 8 characters or more are removed from messages and headers", async () => {
  const url = "http://up?a=7654321&b=87654321";
  const body = '{"error":{"message":"7654321 and 87654321"}}';
  const headers = { "x-ms-short": "7654321", "x-ms-long": "87654321" };
  const answer = await rejected(400, body, { url, headers });
  assertEquals(answer.error.message, "7654321 and [redacted]");
  assertEquals([answer.headers.get("x-ms-short"), answer.headers.get("x-ms-long")], [
    "7654321",
    null,
  ]);
});

const KEYS = ["sk-upstream", 'sk-"quoted"\\', "sk/slash"];

for (const key of KEYS) {
  Deno.test(`the configured key ${key} never reaches the client`, async () => {
    const plain = JSON.stringify(key).slice(1, -1);
    const escaped = [...key].map((unit) =>
      `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
    );
    const spellings = [plain, plain.replaceAll("/", "\\/"), escaped.join("")];
    for (const spelling of spellings) {
      for (
        const body of [`{"error":{"message":"key ${spelling}!"}}`, `{"message":"${spelling}"}`]
      ) {
        for (const status of [200, 400, 401, 403, 500]) {
          const answer = await rejected(status, body, { key });
          if (status !== 200) assertEquals(answer.status, status);
          assert(!String(answer.error.message).includes(key), answer.text);
        }
      }
    }
    const headers = { "x-ms-echo": `Bearer ${key}`, "x-ms-other": "y" };
    const answer = await rejected(401, "", { key, headers });
    assertEquals([answer.headers.get("x-ms-echo"), answer.headers.get("x-ms-other")], [null, "y"]);
  });
}

Deno.test("the gateway's own headers win, and Retry-After reaches the client", async () => {
  const headers = {
    "retry-after": "30",
    "x-gateway-provider": "liar",
    "x-gateway-request-id": "liar",
    "set-cookie": "a=b",
    "x-request-id": "theirs",
  };
  const answer = await rejected(429, "", { headers });
  assertEquals(answer.headers.get("retry-after"), "30");
  assertEquals(answer.headers.get("x-gateway-provider"), "up");
  for (const name of ["x-gateway-request-id", "x-request-id"]) {
    assertEquals(answer.headers.get(name), "00000000-0000-4000-8000-000000000001");
  }
  assertEquals(answer.headers.get("set-cookie"), null);
});

/** Error bodies as FastAPI servers write them, and the message that each one becomes. */
const DETAILS: readonly (readonly [JsonObject, string])[] = [
  [{ detail: "Model is not loaded." }, "Model is not loaded."],
  [
    {
      detail: [{ type: "missing", loc: ["body", "messages", 0, "content"], msg: "Field required" }],
    },
    "body.messages[0].content: Field required",
  ],
  [
    {
      detail: [
        { loc: ["query", "q"], msg: "too long", type: "value_error" },
        { loc: [], msg: "no place" },
        { loc: ["body", 3], type: "json_invalid" },
        "a text",
        7,
        { loc: ["body"] },
      ],
    },
    "query.q: too long; no place; body[3]: json_invalid; a text",
  ],
  [{ detail: { message: "Inside." } }, "Inside."],
];

for (const [body, message] of DETAILS) {
  Deno.test(`a detail is the message of an error on every wire: ${message}`, async () => {
    for (const type of ["compat", "messages", "local"] as const) {
      for (const stream of [false, true]) {
        const answer = await rejected(422, body, { type, stream });
        assertEquals(answer.status, 422);
        assertEquals(answer.error, {
          message,
          type: "invalid_request_error",
          param: null,
          code: null,
        });
      }
    }
  });
}

Deno.test("an error with a message and a detail keeps its message", async () => {
  const detail = "Not this.";
  assertEquals((await rejected(400, { message: "This.", detail })).error.message, "This.");
  const local = await rejected(400, { error: "This.", detail }, { type: "local" });
  assertEquals(local.error.message, "This.");
  const error = { type: "invalid_request_error", message: "This." };
  const messages = await rejected(400, { error, detail }, { type: "messages" });
  assertEquals(messages.error.message, "This.");
  const text = JSON.stringify({ error, detail });
  assertEquals((await rejected(400, text)).text, text);
});

Deno.test("an empty detail leaves the plain message", async () => {
  for (const detail of ["", " ", [], {}, null, 7, [{}], [[]]]) {
    const { error } = await rejected(400, { detail });
    assertEquals(error.message, "The provider responded with status 400.");
  }
});

Deno.test("a message made of a detail has at most 20 problems and 2,000 characters, and its key is removed before it is cut", async () => {
  const many = Array.from({ length: 5_000 }, () => ({ loc: ["body"], msg: "x".repeat(90) }));
  const { error: cut } = await rejected(400, { detail: "x".repeat(900_000) });
  assertEquals(cut.message, `${"x".repeat(2_000)}…`);
  const { error: listed } = await rejected(400, { detail: many });
  assertEquals(listed.message, Array(20).fill(`body: ${"x".repeat(90)}`).join("; "));
  const key = "sk-upstream-of-the-gateway";
  for (let before = 1_970; before <= 2_000; before++) {
    const { error } = await rejected(401, { detail: "x".repeat(before) + key }, { key });
    assert(!String(error.message).includes("sk-up"), String(error.message));
  }
});

Deno.test("an error body with more JSON than an error has keeps its status without its text", async () => {
  const text = (members: number) => `{"error":{"list":[${Array(members).fill("[]").join(",")}]}}`;
  assertEquals(MAX_ERROR_STEPS, 100_000);
  const whole = await rejected(400, text(20_000));
  assert(whole.text === text(20_000));
  const larger = await rejected(400, text(30_000));
  assertEquals([larger.status, larger.error.message], [
    400,
    "The provider responded with status 400.",
  ]);
});

Deno.test("an error body counts in server.max_response_memory while its call waits to be tried again", async () => {
  const error = { error: { message: "x".repeat(300_000) } };
  const heldBytes: number[] = [];
  const world = scriptedWorld({
    fetch() {
      heldBytes.push(admission.responseBytes());
      return heldBytes.length === 1 ? answers(503, error) : answers(200, COMPLETION);
    },
  });
  const config = JSON.stringify({
    providers: { up: { type: "compat", base_url: "http://up", api_key: "any" } },
    routing: { routes: [{ name: "r", targets: [{ provider: "up" }] }] },
    retry: { max_attempts: 2 },
  });
  const { app, gateway, reported } = testGateway(config, world);
  const { admission } = gateway.state;
  const response = app(chatRequest());
  for (let turns = 0; turns < 100 && admission.responseBytes() === 0; turns++) {
    await world.advance(0);
  }
  assert(admission.responseBytes() > 300_000, String(admission.responseBytes()));
  await world.advance(60_000);
  assertEquals((await got(await response)).status, 200);
  await reported(1);
  assertEquals([heldBytes, admission.responseBytes()], [[0, 0], 0]);
});

Deno.test("an error that has not arrived whole within 4 s is that which has arrived", async () => {
  let stall = () => {};
  const stalled = new Promise<void>((resolve) => stall = resolve);
  const sent = ['{"error":{"message":"No."}}', null];
  const body = new ReadableStream({
    type: "bytes",
    pull(controller) {
      const next = sent.shift();
      if (typeof next === "string") return controller.enqueue(new TextEncoder().encode(next));
      stall();
      return new Promise(() => {});
    },
  });
  const world = scriptedWorld({
    fetch: () => Promise.resolve(new Response(body, { status: 400 })),
  });
  const config = `
providers: {up: {type: compat, base_url: "http://up"}}
routing: {routes: [{name: r, targets: [{provider: up}]}]}
`;
  const responding = testGateway(config, world).app(chatRequest());
  await stalled;
  await world.advance(4_000);
  const { status, error } = await got(await responding);
  assertEquals([status, error.message], [400, "No."]);
});
