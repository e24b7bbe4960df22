import { clientApis } from "../../src/api/registry.ts";
import { MESSAGES_FIELDS } from "../../src/api/messages/parse/fields.ts";
import { RESPONSES_FIELDS } from "../../src/api/responses/parse/fields.ts";
import { isObject, type JsonObject, type JsonValue } from "../../src/core/json/json.ts";
import { CHAT_FIELDS } from "../../src/prompt/chat_fields.ts";
import { EMBEDDINGS_FIELDS } from "../../src/wires/embeddings_fields.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { streamOf } from "../support/pieces.ts";
import { type Fetch, scriptedWorld } from "../support/world.ts";
import { privacyConfig } from "../privacy/rules.ts";

const VALUES = ["bob.miller@example.com", "AKIAIOSFODNN7EXAMPLE", "4111111111111111"] as const;

const RULES = ["find: [email, card, aws_key], action: replace"];

const CONFIG = `
providers:
  chat: {type: compat, base_url: "http://chat.test/v1", capabilities: {
    relay: [completions, moderations, images, audio, files, batches, rerank], embeddings_base64: true,
    hosted_tools: [web_search], custom_tools: true, structured_outputs: true, reasoning_effort: true}}
  native: {type: compat, base_url: "http://native.test/v1", capabilities: {
    responses_lifecycle: true, conversations: true, response_compaction: true,
    response_input_tokens: true, chat_completions_lifecycle: true, custom_tools: true,
    hosted_tools: [web_search, web_search_2025_08_26, web_search_preview, tool_search, file_search,
      web_search_preview_2025_03_11, computer, computer_use_preview, mcp, code_interpreter,
      image_generation, programmatic_tool_calling],
    response_cancellation: true, background_responses: true, relay: [files, batches]}}
  messages: {type: messages, base_url: "http://messages.test", capabilities: {
    structured_outputs: true, reasoning_effort: true, adaptive_thinking: true}}
  local: {type: local, base_url: "http://local.test"}
routing:
  routes:
    - {name: native, match: {headers: {x-target: native}}, targets: [
        {provider: native, upstream_request_type: responses}]}
    - {name: messages, match: {headers: {x-target: messages}}, targets: [{provider: messages}]}
    - {name: local, match: {headers: {x-target: local}}, targets: [{provider: local}]}
    - {name: chat, targets: [{provider: chat}]}
retry: {enabled: false}
circuit_breaker: {enabled: false}
`;

const CHAT = "/v1/chat/completions";

const TARGETS = ["chat", "native", "messages", "local"];

/** A gateway whose providers refuse everything, and what they have received. */
function audited(config: string) {
  const sent: string[] = [];
  const fetch: Fetch = async (url, { headers, body }) => {
    const text = await new Response(body ?? "").text();
    sent.push(`${url}\n${JSON.stringify([...new Headers(headers)])}\n${text}`);
    const failure = new TextEncoder().encode('{"error":{"message":"no"}}');
    return new Response(streamOf([failure]), {
      status: 400,
      headers: { "content-type": "application/json" },
    });
  };
  const { app } = testGateway(config, scriptedWorld({ fetch }));
  return {
    sent,
    async post(path: string, body: BodyInit, headers: Record<string, string> = {}) {
      const request = new Request(`http://gateway.test${path}`, { method: "POST", body, headers });
      return await app(request);
    },
  };
}

/** Bodies that each endpoint accepts, by the end of its path. */
const BASES: readonly (readonly [ending: string, body: JsonObject])[] = [
  ["/v1/chat/completions/:completion_id", { metadata: {} }],
  ["/v1/conversations/:conversation_id", { metadata: {} }],
  ["/items", { items: [{ type: "message", role: "user", content: "Hi" }] }],
  ["/v1/uploads", { filename: "a.jsonl", purpose: "batch", bytes: 9, mime_type: "text/plain" }],
  ["/complete", { part_ids: ["part_1"] }],
  ["/cancel", {}],
  ["/v1/batches", {
    input_file_id: "file_1",
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  }],
  ["/messages/count_tokens", { model: "m", messages: [{ role: "user", content: "Hi" }] }],
  ["/v1/messages", { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] }],
  ["/chat/completions", { model: "m", messages: [{ role: "user", content: "Hi" }] }],
  ["/responses", { model: "m", input: "Hi" }],
  ["/embeddings", { model: "m", input: "Hi" }],
  ["/completions", { model: "m", prompt: "Hi" }],
  ["/rerank", { model: "m", query: "Hi", documents: ["a"] }],
  ["/speech", { model: "m", input: "Hi", voice: "alloy" }],
  ["", { model: "m", input: "Hi" }],
];

function baseOf(path: string): JsonObject {
  const [, body] = BASES.find(([ending]) => path.endsWith(ending)) ?? ["", {}];
  return structuredClone(body);
}

/** Members that an element of a list needs besides its planted one, by its type and API. */
const ELEMENTS: Readonly<Record<string, JsonObject>> = {
  text: { text: "Hi" },
  refusal: { refusal: "No" },
  image_url: { image_url: { url: "https://x.test/a.png" } },
  file: { file: { file_id: "file_1" } },
  "chat function": { function: { name: "f", arguments: "{}", parameters: { type: "object" } } },
  "chat custom": { custom: { name: "c", input: "x" } },
  "chat json_schema": { json_schema: { name: "n", schema: { type: "object" } } },
  "chat tools[function]": { function: { name: "f", parameters: { type: "object" } } },
  "chat tools[custom]": { custom: { name: "c" } },
  "chat functions[]": { name: "f", parameters: { type: "object" } },
  "chat tool_choice[allowed_tools]": {
    allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "f" } }] },
  },
  "responses tools[function]": { name: "f", parameters: { type: "object" }, strict: false },
  "responses tools[custom]": { name: "c" },
  "responses tools[namespace]": { name: "n", description: "d", tools: [] },
  "responses tool_choice[allowed_tools]": {
    mode: "auto",
    tools: [{ type: "function", name: "f" }],
  },
  "responses format[json_schema]": { name: "n", schema: { type: "object" } },
  output_text: { text: "Hi", annotations: [] },
  input_text: { text: "Hi" },
  reasoning: { summary: [] },
  "json_schema": { name: "n", schema: { type: "object" } },
};

/** Returns the body with a value at the path of a field table, such as `messages[user].name`. */
function planted(path: string, base: JsonObject, field: string, value: JsonValue): JsonObject {
  const body = structuredClone(base);
  const api = path.includes("/chat/") ? "chat" : "responses";
  const steps = field.replace(/=.*$/, "").replace("messages[].", "messages[user].").split(".")
    .flatMap((step): string[] => {
      const [, name = step, variant] = /^([^[]*)\[([^\]]*)\]$/.exec(step) ?? [];
      return variant === undefined ? [name] : [name, `[${variant}]`];
    });
  plantAt(api, body, steps, value);
  return body;
}

/** Members that are one object of a type, and no list of them. */
const OBJECTS: readonly string[] = ["tool_choice", "response_format", "format"];

const ROLES = ["system", "developer", "user", "assistant", "tool", "function"];

function plantAt(
  api: string,
  holder: JsonObject,
  [step = "", next, ...rest]: readonly string[],
  value: JsonValue,
): void {
  if (next === undefined) return void (holder[step] = value);
  if (!next.startsWith("[")) {
    const inner = isObject(holder[step]) ? holder[step] : {};
    holder[step] = inner;
    return plantAt(api, inner, [next, ...rest], value);
  }
  const variant = next.slice(1, -1);
  if (variant === "" && rest.length === 0) return void (holder[step] = [value]);
  const isRole = step === "messages" && ROLES.includes(variant);
  const element: JsonObject = {
    ...variant !== "" && { [isRole ? "role" : "type"]: variant },
    ...isRole && { content: "Hi" },
    ...variant === "tool" && { tool_call_id: "call_1" },
    ...structuredClone(
      ELEMENTS[`${api} ${step}${next}`] ?? ELEMENTS[`${api} ${variant}`] ?? ELEMENTS[variant] ?? {},
    ),
  };
  plantAt(api, element, rest.length === 0 ? ["planted"] : rest, value);
  holder[step] = OBJECTS.includes(step)
    ? element
    : [element, ...isRole && variant !== "user" ? [{ role: "user", content: "Hi" }] : []];
}

/** The field tables of the endpoints that have one. */
function fieldsOf(path: string): readonly string[] {
  if (path.endsWith("/embeddings")) return EMBEDDINGS_FIELDS;
  if (path.includes("/messages") && !path.includes("chat")) {
    return Object.keys(MESSAGES_FIELDS.rows);
  }
  if (path.includes("/responses") || path.includes("/conversations")) {
    return Object.keys(RESPONSES_FIELDS.rows);
  }
  return path.includes("/chat/completions")
    ? CHAT_FIELDS
    : ["prompt", "input", "query", "documents[]", "user"];
}

const ENDPOINTS = clientApis.flatMap(({ endpoints }) => endpoints)
  .filter(({ method, body }) => method === "POST" && body !== "multipart" && body !== false);

function pathOf(path: string): string {
  return path.replace(/:(\w+?)_id/g, (_, kind) => `${kind}_1`);
}

function leaksIn(sent: readonly string[]): string[] {
  return sent.filter((one) => VALUES.some((value) => one.includes(value)));
}

/** Endpoints whose requests are translated for each type of provider. */
const TRANSLATED = ["/v1/chat/completions", "/v1/responses", "/v1/messages"];

/** Returns the headers that choose a provider for an endpoint, one for each that may serve it. */
function targetsOf(path: string): readonly Record<string, string>[] {
  if (TRANSLATED.includes(path)) return TARGETS.map((target) => ({ "x-target": target }));
  if (path.endsWith("/count_tokens")) return [{ "x-target": "messages" }];
  const isNative = /conversations|responses|completion_id/.test(path);
  return [
    isNative
      ? { "x-target": "native", "x-gateway-provider": "native" }
      : { "x-gateway-provider": "chat" },
  ];
}

/**
 * Plants values at each path of an endpoint in several forms for each target, until a provider has
 * received a request with something in the place of one. Returns the paths of which none has, and
 * the request was not refused because of the value either.
 */
async function plantAll(
  { sent, post }: ReturnType<typeof audited>,
  path: string,
): Promise<readonly string[]> {
  const unseen: string[] = [];
  for (const [index, field] of fieldsOf(path).entries()) {
    const value = VALUES[index % VALUES.length] ?? "";
    const forms = [
      value,
      { type: "object", description: value },
      [`see ${value}.`],
      [{ type: "text", text: value }],
      [{ role: "user", content: value }],
      [{ type: "function", name: "f", description: value, parameters: { type: "object" } }],
      [{ type: "function", function: { name: "f", description: value } }],
      { id: "id_1", variables: { name: value } },
      { unknown: { inner: [value] } },
    ];
    let isSeen = false;
    // Each target gets one form at least, and another one than its neighbour.
    for (let round = 0; round < forms.length && !isSeen; round++) {
      for (const [place, target] of targetsOf(path).entries()) {
        const form = forms[(place + index + round) % forms.length] ?? value;
        const body = JSON.stringify(planted(path, baseOf(path), field, form));
        const before = sent.length;
        const answer = await post(pathOf(path), body, { ...JSON_TYPE, ...target });
        const received = sent.slice(before);
        assertEquals(leaksIn(received), [], `${path} ${field} ${JSON.stringify(target)}`);
        isSeen ||= received.some((one) => REPLACED.test(one)) ||
          (await answer.text()).includes("privacy_unreplaceable");
      }
    }
    if (!isSeen) unseen.push(field);
  }
  return unseen;
}

/** A token, or the label of a masked value. */
const REPLACED = /qz\w{16}(?:email|card|awskey)|\[(?:email|card|awskey)\]/;

const JSON_TYPE = { "content-type": "application/json" };

/** Fields whose values are numbers and flags: a text there is refused for its type. */
const NO_TEXT =
  /(?:^|\.)(?:async|background|defer_loading|dimensions|frequency_penalty|include_\w+|logprobs|max_\w+|n|parallel_tool_calls|presence_penalty|seed|store|stream|strict|temperature|top_\w+)$/;

Deno.test("no value in any member of any table reaches a provider, at each endpoint with a JSON body", async () => {
  const gateway = audited(CONFIG + privacyConfig(RULES));
  for (const { path } of ENDPOINTS) {
    const unseen = await plantAll(gateway, path);
    assertEquals(unseen.filter((field) => !NO_TEXT.test(field)), [], path);
  }
});

Deno.test("the same values reach providers without a policy, so that the audit sees them", async () => {
  const gateway = audited(CONFIG);
  const body = JSON.stringify(
    planted(CHAT, baseOf(CHAT), "messages[user].content", VALUES[0]),
  );
  await gateway.post(CHAT, body, {});
  assertEquals(leaksIn(gateway.sent).length, 1);
});

Deno.test("values in unknown members and in names are replaced or refused with their path", async () => {
  const gateway = audited(CONFIG + privacyConfig(RULES));
  for (const { path } of ENDPOINTS) {
    for (const value of VALUES) {
      const unknown = { ...baseOf(path), unknown_member: { deep: [{ x: value }] } };
      await gateway.post(pathOf(path), JSON.stringify(unknown), JSON_TYPE);
      const named = { ...baseOf(path), unknown_member: { [value]: 1 } };
      const refused = await gateway.post(pathOf(path), JSON.stringify(named), JSON_TYPE);
      const text = await refused.text();
      assert(
        text.includes("privacy_unreplaceable") && text.includes("unknown_member.*"),
        path + text,
      );
      assert(!text.includes(value));
    }
  }
  assertEquals(leaksIn(gateway.sent), []);
});

function formOf(fields: readonly (readonly [string, string])[], file: string): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  form.append("file", new File(["RIFF"], file));
  return form;
}

Deno.test("values in the texts and headers of multipart bodies are replaced, masked or refused", async () => {
  const paths = clientApis.flatMap(({ endpoints }) => endpoints)
    .filter(({ body }) => body === "multipart" || body === "multipart or json").map(({ path }) =>
      path
    );
  assert(paths.length >= 5);
  for (const path of paths) {
    const gateway = audited(CONFIG + privacyConfig(RULES));
    const fields = [["model", "m"], ["prompt", `for ${VALUES[0]}`], ["user", VALUES[1]]] as const;
    const target = { "x-gateway-provider": "chat" };
    const masked = await gateway.post(pathOf(path), formOf(fields, "a.wav"), target);
    await masked.text();
    for (const form of [formOf(fields, `${VALUES[0]}.wav`), formOf([[VALUES[1], "x"]], "a.wav")]) {
      const refused = await gateway.post(pathOf(path), form, target);
      assertEquals([refused.status, (await refused.text()).includes("privacy_unreplaceable")], [
        400,
        true,
      ]);
    }
    const strict = audited(CONFIG + privacyConfig(RULES, ", unread: refuse"));
    const form = new FormData();
    form.append(`file-${VALUES[0]}`, new File(["RIFF"], "a.wav"));
    const unread = await (await strict.post(pathOf(path), form, target)).text();
    assert(unread.includes("privacy_unread") && !unread.includes(VALUES[0]), unread);
    assertEquals(leaksIn(gateway.sent), [], path);
    const isDrawn = path.includes("/images/");
    const [sent = ""] = gateway.sent;
    if (sent !== "") {
      assert(isDrawn ? sent.includes("for [email]") : /for qz\w+email/.test(sent), path);
    }
  }
});
