import { clientApis } from "../../src/api/registry.ts";
import { MESSAGES_FIELDS } from "../../src/api/messages/parse/fields.ts";
import { RESPONSES_FIELDS } from "../../src/api/responses/parse/fields.ts";
import { isObject, type JsonObject, type JsonValue } from "../../src/core/json/json.ts";
import { CHAT_FIELDS } from "../../src/prompt/chat_fields.ts";
import { EMBEDDINGS_FIELDS } from "../../src/wires/embeddings_fields.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
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
    response_input_tokens: true, hosted_tools: [web_search], chat_completions_lifecycle: true,
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

const TARGETS = ["chat", "native", "messages", "local"];

/** A gateway whose providers refuse everything, and what they have received. */
function audited(config: string) {
  const sent: string[] = [];
  const fetch: Fetch = async (url, { headers, body }) => {
    const text = await new Response(body ?? "").text();
    sent.push(`${url}\n${JSON.stringify([...new Headers(headers)])}\n${text}`);
    return Response.json({ error: { message: "no" } }, { status: 400 });
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

/** Returns the body with a value at the path of a field table, such as `messages[user].name`. */
function planted(base: JsonObject, path: string, value: JsonValue): JsonObject {
  const body = structuredClone(base);
  const steps = path.replace(/=.*$/, "").split(".").flatMap((step): string[] => {
    const [, name = step, variant] = /^([^[]*)\[([^\]]*)\]$/.exec(step) ?? [];
    return variant === undefined ? [name] : [name, `[${variant}]`];
  });
  plantAt(body, steps, value);
  return body;
}

function plantAt(
  holder: JsonObject,
  [step = "", next, ...rest]: readonly string[],
  value: JsonValue,
): void {
  if (next === undefined) return void (holder[step] = value);
  if (!next.startsWith("[")) {
    const inner = isObject(holder[step]) ? holder[step] : {};
    holder[step] = inner;
    return plantAt(inner, [next, ...rest], value);
  }
  const variant = next.slice(1, -1);
  const isRole = ["system", "developer", "user", "assistant", "tool", "function"].includes(variant);
  if (variant !== "" || rest.length > 0) {
    const element: JsonObject = variant === "" ? {} : { [isRole ? "role" : "type"]: variant };
    plantAt(element, rest.length === 0 ? ["planted"] : rest, value);
    holder[step] = [
      element,
      ...isRole && variant !== "user" ? [{ role: "user", content: "Hi" }] : [],
    ];
  } else holder[step] = [value];
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

/**
 * Plants values at each path of an endpoint in three forms, one of them for each target; other
 * endpoints have one target.
 */
async function plantAll(gateway: ReturnType<typeof audited>, path: string) {
  const targets = TRANSLATED.includes(path) ? TARGETS : TARGETS.slice(0, 1);
  for (const [index, field] of fieldsOf(path).entries()) {
    const value = VALUES[index % VALUES.length] ?? "";
    const forms = [value, [`see ${value}.`], { unknown: { inner: [value] } }];
    for (const [place, target] of targets.entries()) {
      const form = forms[(place + index) % forms.length] ?? value;
      const body = JSON.stringify(planted(baseOf(path), field, form));
      const before = gateway.sent.length;
      await gateway.post(pathOf(path), body, { ...JSON_TYPE, "x-target": target });
      assertEquals(leaksIn(gateway.sent.slice(before)), [], `${path} ${field} ${target}`);
    }
  }
}

const JSON_TYPE = { "content-type": "application/json" };

Deno.test("no value in any member of any table reaches a provider, at each endpoint with a JSON body", async () => {
  const gateway = audited(CONFIG + privacyConfig(RULES));
  for (const { path } of ENDPOINTS) await plantAll(gateway, path);
  // Most requests are sent, with something in the place of the value.
  assert(gateway.sent.length > 300, String(gateway.sent.length));
  assert(gateway.sent.some((one) => /qz\w{16}email/.test(one)));
});

Deno.test("the same values reach providers without a policy, so that the audit sees them", async () => {
  const gateway = audited(CONFIG);
  const body = JSON.stringify(
    planted(baseOf("/v1/chat/completions"), "messages[user].content", VALUES[0]),
  );
  await gateway.post("/v1/chat/completions", body, {});
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
