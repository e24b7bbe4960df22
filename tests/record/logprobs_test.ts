import type { JsonObject } from "../../src/core/json/json.ts";
import { MAX_BODY_CHARS } from "../../src/record/capture.ts";
import { withoutLogprobs } from "../../src/record/logprobs.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers } from "../support/chat_call.ts";
import { scriptedWorld } from "../support/world.ts";
import { recordingGateway, recordSection, withFolder } from "./support.ts";

const CREDENTIAL = `sk-${"a1B2".repeat(6)}`;
const CLIENT_KEY = "own-key-of-the-client";

const PLACE = `
security: {enabled: true, api_key: {keys: [{name: ada, value: ${CLIENT_KEY}}]}}
providers:
  up: {type: compat, base_url: "http://up", api_key: k, capabilities: {relay: [completions]}}
routing:
  routes:
    - name: responses
      match: {path: /v1/responses}
      targets: [{provider: up, upstream_request_type: responses}]
    - {name: rest, targets: [{provider: up}]}
retry: {enabled: false}
`;

/** Returns log probabilities of Chat and of Responses for the tokens of a text. */
function tokensOf(texts: readonly string[]): JsonObject[] {
  return texts.map((token) => {
    const own = { token, logprob: -0.5, bytes: [...new TextEncoder().encode(token)] };
    return { ...own, top_logprobs: [own] };
  });
}

function sse(events: readonly JsonObject[], end = ""): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("") + end;
}

const DONE = "data: [DONE]\n\n";

/** An API, and its answers of tokens, whole or with an event for each of its pieces. */
interface Api {
  readonly path: string;
  readonly asked: JsonObject;
  whole(tokens: readonly string[]): string;
  stream(pieces: readonly (readonly string[])[]): string;
}

const RESPONSE = { id: "resp_1", object: "response", created_at: 1, model: "m", error: null };
const ITEM = { id: "msg_1", type: "message", role: "assistant" };
const AT = { item_id: "msg_1", output_index: 0, content_index: 0 };

function partOf(tokens: readonly string[]): JsonObject {
  const logprobs = tokensOf(tokens);
  return { type: "output_text", annotations: [], logprobs, text: tokens.join("") };
}

function responseOf(tokens: readonly string[]): JsonObject {
  const item = { ...ITEM, status: "completed", content: [partOf(tokens)] };
  return { ...RESPONSE, status: "completed", output: [item] };
}

/** Returns an answer of Chat, of text in `content` or in `refusal`. */
function chat(name: "content" | "refusal"): Api {
  const choice = (tokens: readonly string[], finish_reason: string | null) => ({
    index: 0,
    finish_reason,
    logprobs: { content: null, refusal: null, [name]: tokensOf(tokens) },
  });
  const messageWith = (tokens: readonly string[]) => ({
    role: "assistant",
    content: null,
    [name]: tokens.join(""),
  });
  const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  return {
    path: "/v1/chat/completions",
    asked: { messages: [{ role: "user", content: "x" }], logprobs: true },
    whole: (tokens) =>
      JSON.stringify({
        ...{ ...chunk, object: "chat.completion" },
        choices: [{ ...choice(tokens, "stop"), message: messageWith(tokens) }],
      }),
    stream: (pieces) =>
      sse([
        ...pieces.map((one) => ({
          ...chunk,
          choices: [{ ...choice(one, null), delta: messageWith(one) }],
        })),
        { ...chunk, choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: "stop" }] },
      ], DONE),
  };
}

function completion(tokens: readonly string[], finish_reason: string | null): JsonObject {
  const top_logprobs = tokens.map((token) => ({ [token]: -0.5 }));
  const token_logprobs = tokens.map(() => -0.5);
  const logprobs = {
    text_offset: tokens.map(() => 0),
    token_logprobs,
    tokens: [...tokens],
    top_logprobs,
  };
  const choices = [{ index: 0, text: tokens.join(""), logprobs, finish_reason }];
  return { id: "c", object: "text_completion", created: 1, model: "m", choices };
}

const APIS: Readonly<Record<string, Api>> = {
  Chat: chat("content"),
  "a refusal of Chat": chat("refusal"),
  completions: {
    path: "/v1/completions",
    asked: { prompt: "x", logprobs: 1 },
    whole: (tokens) => JSON.stringify(completion(tokens, "stop")),
    stream: (pieces) => sse(pieces.map((one) => completion(one, null)), DONE),
  },
  Responses: {
    path: "/v1/responses",
    asked: { input: "x", include: ["message.output_text.logprobs"], store: false },
    whole: (tokens) => JSON.stringify(responseOf(tokens)),
    stream: (pieces) => {
      const tokens = pieces.flat();
      const { text, logprobs } = partOf(tokens);
      const events: JsonObject[] = [
        { type: "response.created", response: { ...RESPONSE, status: "in_progress", output: [] } },
        {
          type: "response.output_item.added",
          output_index: 0,
          item: { ...ITEM, status: "in_progress", content: [] },
        },
        { type: "response.content_part.added", ...AT, part: partOf([]) },
        ...pieces.map((one) => ({
          type: "response.output_text.delta",
          ...AT,
          delta: one.join(""),
          logprobs: tokensOf(one),
        })),
        { type: "response.output_text.done", ...AT, text, logprobs },
        { type: "response.content_part.done", ...AT, part: partOf(tokens) },
        {
          type: "response.output_item.done",
          output_index: 0,
          item: { ...ITEM, status: "completed", content: [partOf(tokens)] },
        },
        { type: "response.completed", response: responseOf(tokens) },
      ];
      return sse(events.map((event, at) => ({ ...event, sequence_number: at })));
    },
  },
};

/** Returns the recorded response of an answer, and the text that the client received. */
async function recorded(
  folder: string,
  { path, asked }: Api,
  answer: string,
  policy: string,
): Promise<readonly [recorded: string, got: string]> {
  const own = await Deno.makeTempDir({ dir: folder });
  const world = scriptedWorld({
    fetch: () =>
      answers(200, answer, {
        "content-type": answer.startsWith("data:") ? "text/event-stream" : "application/json",
      }),
  });
  const settings = recordSection(own, `calls: all, policy: ${policy}`);
  const { app, finish } = await recordingGateway(settings + PLACE, world);
  const body = JSON.stringify({ model: "m", ...asked, stream: answer.startsWith("data:") });
  const response = await app(
    new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { host: "localhost", authorization: `Bearer ${CLIENT_KEY}` },
      body,
    }),
  );
  const got = await response.text();
  assertEquals(response.status, 200, got);
  const [record] = await finish();
  return [record?.response?.events ?? record?.response?.body ?? "", got];
}

/** Returns the beginnings of all values of log probabilities. */
function valuesIn(text: string): Set<string> {
  return new Set([...text.matchAll(/"logprobs":(....)/g)].map(([, value = ""]) => value));
}

const SECRETS = [
  ["credentials", CREDENTIAL, "[api_key]"],
  ["none", CLIENT_KEY, "[client_key]"],
] as const;

for (const [name, api] of Object.entries(APIS)) {
  for (const [policy, secret, label] of SECRETS) {
    Deno.test(`${label} in ${name}: no log probability in the record, whole or of a stream, and all without it`, () =>
      withFolder(async (folder) => {
        const tokens = ["It", " is ", ...secret.match(/.{1,5}/g) ?? [], ", or", " so."];
        const others = tokens.map((token) => token.replace(/[a-z]/g, "x"));
        const answersOf = (all: readonly string[]) => [
          api.whole(all),
          api.stream(all.map((one) => [one])),
          api.stream([all.slice(0, 1), all.slice(1)]),
        ];
        for (const answer of answersOf(tokens)) {
          const [record, got] = await recorded(folder, api, answer, policy);
          assert(/"tokens?":/.test(got), got);
          assert(record.includes(label), record);
          assertEquals([...valuesIn(record)], ["null"], record);
          assert(!/"(?:token|tokens|bytes|top_logprobs)":/.test(record), record);
        }
        for (const answer of answersOf(others)) {
          const [record, got] = await recorded(folder, api, answer, policy);
          assertEquals(record, got);
          assert(/"tokens?":/.test(record));
        }
      }));
  }
}

Deno.test("a cut response has no log probability: the text of its tokens may be missing", () =>
  withFolder(async (folder) => {
    const { Responses: api } = APIS;
    assert(api !== undefined);
    const answer = api.whole([...CREDENTIAL.match(/.{1,5}/g) ?? [], "LAST"]);
    const long = answer.replaceAll("LAST", " ".repeat(MAX_BODY_CHARS));
    const [record] = await recorded(folder, api, long, "credentials");
    assertEquals(record.slice(-15), '"logprobs":null');
  }));

Deno.test("no other byte changes: flags, strings with the name, members before and behind a value", () => {
  const before = String
    .raw`{"logprobs": true,"a":"\"logprobs\":[1]","top_logprobs":[1.0],"logprobs" : `;
  const after = String.raw`,"n":1.0,"logprobs":null,"b":["logprobs",{}],"logprobs":0}`;
  const value = String.raw`{"content":[{"token":"]}\"[\\","logprobs":[{}]}],"refusal":null}`;
  const text = `${before}${value}${after}`;
  assertEquals(withoutLogprobs(text, ""), `${before}null${after}`);
  assertEquals(withoutLogprobs(text, text), text);
});
