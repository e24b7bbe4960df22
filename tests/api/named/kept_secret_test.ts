import type { JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { COMPLETION, MESSAGES } from "../../support/chat_call.ts";
import { nativeGateway, responseOf, streamOf } from "../../support/native_gateway.ts";
import { KINDS, namedFile, namedOver } from "./named_gateway.ts";

const SYSTEM = 'Answer in "British"\\nEnglish.';

const WORDS = "British";

const MEMBER = `system: ${JSON.stringify(SYSTEM)}`;

const STREAM = { "content-type": "text/event-stream" };

const CAN = "{chat_completions_lifecycle: true, responses_lifecycle: true}";

/** The message of a request in a list of a provider. */
function message(index: number, role: string, content: string): JsonObject {
  return { id: `chatcmpl-1-${index}`, object: "chat.completion.message", role, content };
}

const STORED = [
  message(0, "system", `Mine.\n\n${SYSTEM}`),
  message(1, "developer", SYSTEM),
  message(2, "user", "Hi"),
];

/** Returns a page of these messages as a provider with cursors writes it. */
function pageAfter(path: string, all = STORED): JsonObject {
  const query = new URL(path, "http://up").searchParams;
  const from = all.findIndex(({ id }) => id === query.get("after")) + 1;
  const data = all.slice(from, from + Number(query.get("limit") ?? "20"));
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + data.length < all.length,
  };
}

function completions(member: string) {
  return namedOver(CAN, member, ({ path }) => ({
    body: path.includes("/messages") ? pageAfter(path) : COMPLETION,
  }), "");
}

Deno.test("the messages of a stored completion have no instructions if a named model has added some", async () => {
  const { post, get } = completions(MEMBER);
  await post("/chat/completions", { model: "coder", ...MESSAGES, store: true });
  const listed = await get("/chat/completions/chatcmpl-1/messages");
  assertEquals(listed.json, {
    object: "list",
    data: [STORED[2] ?? null],
    first_id: "chatcmpl-1-2",
    last_id: "chatcmpl-1-2",
    has_more: false,
  });
  const first = await get("/chat/completions/chatcmpl-1/messages?limit=1");
  assertEquals(first.json.data, [STORED[2] ?? null]);
});

Deno.test("the messages of other stored completions are as the provider has them", async () => {
  for (const member of ["", "response_model: requested"]) {
    const { post, get } = completions(member);
    await post("/chat/completions", { model: "coder", ...MESSAGES, store: true });
    const listed = await get("/chat/completions/chatcmpl-1/messages");
    assertEquals(listed.text, JSON.stringify(pageAfter("/")));
  }
  const { post, get } = completions(MEMBER);
  await post("/chat/completions", { model: "m", ...MESSAGES, store: true });
  const listed = await get("/chat/completions/chatcmpl-1/messages");
  assertEquals(listed.text, JSON.stringify(pageAfter("/")));
});

Deno.test("an object without a known origin shows no instructions while a named model has some", async () => {
  const headers = { "x-gateway-provider": "up" };
  for (const [member, isShown] of [["", true], [MEMBER, false]] as const) {
    const { get } = namedOver(
      CAN,
      member,
      ({ path }) =>
        path.includes("/messages")
          ? { body: pageAfter(path) }
          : path.includes("stream=true")
          ? { body: streamOf("resp_1", { instructions: SYSTEM }), headers: STREAM }
          : { body: responseOf("resp_1", { instructions: SYSTEM }) },
    );
    for (
      const path of [
        "/responses/resp_1",
        "/responses/resp_1?stream=true",
        "/chat/completions/chatcmpl-1/messages",
      ]
    ) {
      const { status, text } = await get(path, headers);
      assertEquals([path, status, text.includes(WORDS)], [path, 200, isShown], text);
    }
  }
});

Deno.test("instructions that a provider writes as items are not shown", async () => {
  const items = [{ type: "message", role: "developer", content: SYSTEM }];
  const { post, get } = namedOver(
    CAN,
    MEMBER,
    ({ json }) =>
      json.stream === true
        ? { body: streamOf("resp_1", { instructions: items }), headers: STREAM }
        : { body: responseOf("resp_1", { instructions: items }) },
  );
  const body = { model: "coder", input: "Hi" };
  assertEquals((await post("/responses", body)).json.instructions, null);
  const { text } = await post("/responses", { ...body, stream: true });
  assert(text.includes("response.completed") && !text.includes(WORDS), text);
  assertEquals((await get("/responses/resp_1")).json.instructions, null);
});

Deno.test("an error of the provider that quotes the instructions does not show them", async () => {
  const requests: Readonly<Record<string, JsonObject>> = {
    "/chat/completions": { ...MESSAGES },
    "/responses": { input: "Hi" },
    "/messages": { ...MESSAGES, max_tokens: 64 },
  };
  for (const kind of KINDS) {
    const type = kind === "responses" ? "compat" : kind;
    const api = kind === "responses" ? ", upstream_request_type: responses" : "";
    const file = namedFile("{}", MEMBER, api).replace("type: compat", `type: ${type}`);
    for (const stream of [false, true]) {
      for (const [path, body] of Object.entries(requests)) {
        const error = { type: "invalid_request_error" };
        const { post } = nativeGateway(file, (request) => ({
          status: 400,
          body: { type: "error", error: { ...error, message: `Wrong: ${request.body} ${SYSTEM}` } },
        }));
        const { status, text } = await post(path, { model: "coder", stream, ...body });
        assertEquals([kind, path, status], [kind, path, 400], text);
        assert(text.includes("[redacted]") && !text.includes(WORDS), text);
      }
    }
  }
});

Deno.test("a list of stored completions has the requested model and other bytes as they are", async () => {
  const page = (model: string) =>
    `{"object":"list", "data":[ {"id":"chatcmpl-1","object":"chat.completion","model":"${model}" ,"x":1.0},` +
    '{"id":"other","model":"m"}],"has_more":false}';
  const { post, get, reload } = namedOver(
    CAN,
    "response_model: requested",
    ({ method }) => ({ body: method === "GET" ? page("served") : COMPLETION }),
    "",
  );
  await post("/chat/completions", { model: "coder", ...MESSAGES, store: true });
  const listed = await get("/chat/completions");
  assertEquals(listed.text, page("coder").replace("[ {", "[{"));
  reload(
    namedFile(CAN, "response_model: requested", "").replace(
      "api_key: k",
      "api_keys: [{name: a, value: k}, {name: b, value: k2}]",
    ),
  );
  const merged = await get("/chat/completions");
  assert(merged.text.includes('"model":"coder" ,"x":1.0'), merged.text);
});

Deno.test("a response that failed at the provider does not quote the instructions, also when it is read", async () => {
  const failed = (text: string) => ({
    status: "failed",
    error: { code: "server_error", message: `Wrong: ${text}` },
  });
  const { post, get } = namedOver(CAN, MEMBER, ({ json, method, path, body }) => {
    const more = failed(method === "POST" ? body : SYSTEM);
    return json.stream === true || path.includes("stream=true")
      ? {
        body: streamOf("resp_1", more).replaceAll("response.completed", "response.failed"),
        headers: STREAM,
      }
      : { body: responseOf("resp_1", more) };
  });
  const body = { model: "coder", input: "Hi" };
  const replies = [
    await post("/responses", body),
    await post("/responses", { ...body, stream: true }),
    await get("/responses/resp_1"),
    await get("/responses/resp_1?stream=true"),
  ];
  for (const [index, { status, text }] of replies.entries()) {
    assertEquals([index, status], [index, 200], text);
    assert(text.includes("[redacted]") && !text.includes(WORDS), text);
  }
});
