import type { JsonObject } from "../../../src/core/json/json.ts";
import type { GrowingCall } from "./doubling.ts";
import {
  type GrowingAnswer,
  growingCall,
  type ProviderName,
  PROVIDERS,
} from "./growing_gateway.ts";
import {
  json,
  outputText,
  responsesAnswer,
  responsesMessage,
  shortAnswer,
  times,
} from "./spoken.ts";

const NATIVE = { "x-gateway-provider": "native" };
const CONVERSATION = { id: "conv_1", object: "conversation", created_at: 1, metadata: {} };

function embedded(provider: ProviderName, n: number): GrowingAnswer {
  const usage = { prompt_tokens: 1, total_tokens: 1 };
  return provider === "local"
    ? json({ model: "m", embeddings: times(n, () => [0.5, 1.5]), prompt_eval_count: 1 })
    : json({
      object: "list",
      data: times(n, (index) => ({ object: "embedding", index, embedding: [0.5, 1.5] })),
      usage,
    });
}

function listed(provider: ProviderName, n: number): GrowingAnswer {
  return provider === "local"
    ? json({ models: times(n, (at) => ({ name: `model-${at}` })) })
    : json({ object: "list", data: times(n, (at) => ({ id: `model-${at}`, object: "model" })) });
}

/** A message of a conversation with `n` parts. */
function itemOf(n: number): JsonObject {
  const content = times(n, () => ({ type: "input_text", text: "a" }));
  return { type: "message", role: "user", content };
}

/** A list of `n` items, as an upstream answers it. */
function listOf(n: number): GrowingAnswer {
  const data = times(n, (at) => ({ id: `item_${at}`, type: "message" }));
  return json({ object: "list", data, has_more: false });
}

/** Headers of one message: far more than servers take. */
const MAX_HEADERS = 1_000;

/** Calls of every other endpoint, in which one thing of the request or of the answer grows. */
export const OTHER_CALLS: readonly GrowingCall[] = [
  ...(["compat", "native", "local"] as const).flatMap((provider) => [
    growingCall(`embeddings over ${provider}: inputs`, (n) => ({
      path: "/embeddings",
      body: JSON.stringify({ model: `${provider}/m`, input: times(n, () => "a") }),
      answer: embedded(provider, n),
    })),
    growingCall(`embeddings over ${provider}: figures of a vector`, (n) => ({
      path: "/embeddings",
      body: JSON.stringify({ model: `${provider}/m`, input: ["a"] }),
      answer: provider === "local"
        ? json({ model: "m", embeddings: [times(n, () => 0.5)] })
        : json({ data: [{ embedding: times(n, () => 0.5) }] }),
    })),
  ]),
  growingCall("embeddings over messages: inputs", (n) => ({
    path: "/embeddings",
    body: JSON.stringify({ model: "messages/m", input: times(n, () => "a") }),
    answer: json({}),
  }), { isRefused: true }),
  growingCall("models: models", (n) => ({
    method: "GET",
    path: "/models",
    answer: listed("compat", n),
  })),
  growingCall("models/{model}: models", (n) => ({
    method: "GET",
    path: `/models/compat/model-${n - 1}`,
    answer: listed("compat", n),
  })),
  growingCall("models over local: models", (n) => ({
    method: "GET",
    path: "/models/local/model-1",
    answer: listed("local", n),
  })),
  growingCall("conversations over native: parts", (n) => ({
    path: "/conversations",
    headers: NATIVE,
    body: JSON.stringify({ items: [itemOf(n)] }),
    answer: json(CONVERSATION),
  })),
  growingCall("conversations/{id}/items over native: parts", (n) => ({
    path: "/conversations/conv_1/items",
    headers: NATIVE,
    body: JSON.stringify({ items: [itemOf(n)] }),
    answer: listOf(1),
  })),
  growingCall("conversations/{id}/items over native: listed items", (n) => ({
    method: "GET",
    path: "/conversations/conv_1/items",
    headers: NATIVE,
    answer: listOf(n),
  })),
  growingCall("conversations/{id} over native: members of metadata", (n) => ({
    path: "/conversations/conv_1",
    headers: NATIVE,
    body: JSON.stringify({ metadata: Object.fromEntries(times(n, (at) => [`x${at}`, "a"])) }),
    answer: json(CONVERSATION),
  })),
  ...["", "/cancel"].map((below) =>
    growingCall(`responses/{id}${below} over native: items`, (n) => ({
      method: below === "" ? "GET" : "POST",
      path: `/responses/resp_1${below}`,
      headers: NATIVE,
      answer: responsesAnswer(times(n, () => responsesMessage([outputText("a")]))),
    }))
  ),
  growingCall("responses/{id}/input_items over native: items", (n) => ({
    method: "GET",
    path: "/responses/resp_1/input_items",
    headers: NATIVE,
    answer: listOf(n),
  })),
  growingCall("DELETE responses/{id} over native: members", (n) => ({
    method: "DELETE",
    path: "/responses/resp_1",
    headers: NATIVE,
    answer: json({
      id: "resp_1",
      object: "response",
      deleted: true,
      ...Object.fromEntries(times(n, (at) => [`x${at}`, null])),
    }),
  })),
  growingCall("stored completions over native: listed completions", (n) => ({
    method: "GET",
    path: "/chat/completions",
    headers: NATIVE,
    answer: listOf(n),
  })),
  growingCall("stored completions over native: members of metadata", (n) => ({
    path: "/chat/completions/chatcmpl-1",
    headers: NATIVE,
    body: JSON.stringify({ metadata: Object.fromEntries(times(n, (at) => [`x${at}`, "a"])) }),
    answer: json({ id: "chatcmpl-1", object: "chat.completion" }),
  })),
  ...PROVIDERS.flatMap((provider) => headerCalls(provider)),
  growingCall("responses over native: headers of the upstream", (n) => ({
    path: "/responses",
    body: JSON.stringify({ model: "native/m", input: "a" }),
    answer: {
      ...shortAnswer("native", false),
      headers: [
        ["connection", times(n, (at) => `x-hop-${at}`).join(", ")],
        ...times(n, (at) => [`x-header-${at}`, "a"] as const),
      ],
    },
  }), { most: MAX_HEADERS }),
];

/** Headers of the client and of the upstream. */
function headerCalls(provider: ProviderName): readonly GrowingCall[] {
  const body = JSON.stringify({
    model: `${provider}/m`,
    messages: [{ role: "user", content: "a" }],
  });
  const path = "/chat/completions";
  const answer = shortAnswer(provider, false);
  const values: readonly (readonly [name: string, header: string, value: (n: number) => string])[] =
    [
      ["values of a control header", "x-gateway-no-retry", (n) => "false,".repeat(n)],
      ["blanks in a passed header", "idempotency-key", (n) => `a${" ".repeat(n)}b`],
      ["bytes above 127 in a header", "x-gateway-sessionid", (n) => "\xc3\xa9".repeat(n)],
      ["values of the origin header", "origin", (n) => "http://a.localhost,".repeat(n)],
    ];
  return [
    ...values.map(([name, header, value]) =>
      growingCall(
        `chat over ${provider}: ${name}`,
        (n) => ({ path, body, headers: { [header]: value(n) }, answer }),
        { isRefused: header === "origin" },
      )
    ),
    growingCall(`chat over ${provider}: headers`, (n) => ({
      path,
      body,
      headers: Object.fromEntries(times(n, (at) => [`x-header-${at}`, "a"])),
      answer,
    }), { most: MAX_HEADERS }),
  ];
}
