import { chunk, completion, conf, gw, json, sse, TOKEN } from "./zz_lib.ts";
import { compile } from "../src/gateway/compile.ts";
import { parsedConfig } from "./support/parsed_config.ts";
const V = "bob.miller@example.com", CARD = "4111111111111111";
function show(title: string, v: unknown) { console.log("== " + title + ": " + (typeof v === "string" ? v : JSON.stringify(v))); }
const leak = (s: unknown) => JSON.stringify(s).includes("bob.miller") || JSON.stringify(s).includes(CARD);
const tok = (b: string) => (b.match(TOKEN) ?? ["none"])[0];
async function t(n: string, f: () => Promise<void>) { try { await f(); } catch (e) { show("ERR " + n, String((e as Error).stack)); } }
await t("reload", async () => {
  let token = "";
  const resp = () => ({ id: "resp_1", object: "response", created_at: 1, model: "m", status: "completed", output: [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "to " + token, annotations: [] }] }], usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } });
  const g = gw(conf(["find: [email], action: replace"]), (b) => { if (/qz/.test(b)) token = tok(b); return json(resp()); });
  const h = { "x-target": "native" };
  await g.call("POST", "/v1/responses", { model: "m", input: "Mail " + V, store: true }, h);
  show("read", (await g.call("GET", "/v1/responses/resp_1", undefined, h)).text.includes(V));
  for (const [n, c] of [["rule changed", conf(["find: [card], action: replace"])], ["secret changed", conf(["find: [email], action: replace"]).replace("MDEy", "MDFy")], ["policy removed", conf(["find: [email], action: replace"]).replace(/privacy:[\s\S]*/, "")]] as const) {
    g.gateway.reload(parsedConfig(c));
    const r = await g.call("GET", "/v1/responses/resp_1", undefined, h);
    const n2 = await g.call("POST", "/v1/responses", { model: "m", input: "Again", previous_response_id: "resp_1", store: true }, h);
    const n3 = await g.call("POST", "/v1/responses", { model: "m", input: "Again " + V, previous_response_id: "resp_1", store: true }, h);
    show("after reload " + n, [r.text.includes(V), n2.text.includes(V), n3.text.includes(V), g.sent.at(-1)?.body, tok(g.sent.at(-1)!.body) === token]);
  }
});

await t("conversations", async () => {
  // local conversation: another key with another policy
  const c = conf(["find: [email], action: replace"], `security:
  enabled: true
  isolate_clients: false
  api_key: {keys: [{name: a, value: key-a-0123456789abcdef}, {name: b, value: key-b-0123456789abcdef}]}`);
  const g = gw(c, (b) => json(completion({ content: "to " + tok(b) })));
  const a = { authorization: "Bearer key-a-0123456789abcdef" }, bb = { authorization: "Bearer key-b-0123456789abcdef" };
  const r = await g.call("POST", "/v1/responses", { model: "m", input: "Mail " + V, conversation: JSON.parse((await g.call("POST", "/v1/conversations", {}, a)).text).id }, a);
  const conv = JSON.parse(r.text).conversation.id;
  const r2 = await g.call("POST", "/v1/responses", { model: "m", input: "again", conversation: conv }, bb);
  show("conv b", [r2.status, r2.text.includes(V), leak(g.sent), g.sent.map(s => s.body.match(TOKEN))]);
  const items = await g.call("GET", `/v1/conversations/${conv}/items`, undefined, bb);
  show("items b", [items.status, items.text.includes(V)]);
});
await t("verified cut stream strict", async () => {
  const g = gw(conf(["words: ['Blue \"Falcon\"'], action: replace", "find: [email], action: replace", "find: [email], phase: response, action: mask"]), (b) => {
    const ts = b.match(TOKEN)!; const text = JSON.stringify({ to: ts[0], cc: ts[1]!.toUpperCase(), x: "eve@example.com" });
    return sse([...[...text].map(c => chunk({ content: c })), chunk({}, "stop"), "data: [DONE]\n\n"]);
  });
  const schema = { type: "object", additionalProperties: false, required: ["to", "cc", "x"], properties: { to: { type: "string", enum: ['Blue "Falcon"'] }, cc: { type: "string", maxLength: 30 }, x: { type: "string" } } };
  const r = await g.call("POST", "/v1/chat/completions", { model: "m", stream: true, response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema } }, messages: [{ role: "user", content: `A Blue "Falcon", ${V}` }] });
  let out = ""; for (const [, d] of r.text.matchAll(/data: (\{.*)/g)) out += JSON.parse(d!).choices[0]?.delta?.content ?? "";
  show("strict", [out, JSON.parse(out), r.headers.get("x-gateway-lossy"), r.headers.get("x-gateway-verified")]);
});
await t("logprobs", async () => {
  const g = gw(conf(["find: [email], action: replace"]), (b) => json({ ...completion({ content: "to " + tok(b) }), choices: [{ index: 0, message: { role: "assistant", content: "to " + tok(b) }, logprobs: { content: [{ token: tok(b), logprob: -1, bytes: [113, 122], top_logprobs: [] }] }, finish_reason: "stop" }] }));
  const r = await g.call("POST", "/v1/chat/completions", { model: "m", logprobs: true, messages: [{ role: "user", content: V }] });
  show("logprobs", [r.text, r.headers.get("x-gateway-lossy")]);
});
await t("transcripts", async () => {
  const g = gw(conf(["find: [email], action: replace", "find: [email], phase: response, action: mask"]), () => json({ text: "say eve@example.com", segments: [{ id: 0, text: "eve@example.com", tokens: [1] }], words: [{ word: "eve@example.com", start: 0 }] }));
  const f = new FormData(); f.append("model", "m"); f.append("prompt", "x " + V); f.append("file", new File(["RIFF"], "a.wav"));
  const r = await g.call("POST", "/v1/audio/transcriptions", f);
  show("transcripts", [r.text, leak(g.sent)]);
});
await t("retry", async () => {
  let n = 0;
  const g = gw(conf(["find: [email], action: replace"]).replace("retry: {enabled: false}", "retry: {enabled: true, initial_delay: 1ms}"), (b) => n++ === 0 ? json({ error: { message: "busy " + tok(b) } }, 503) : json(completion({ content: "to " + tok(b) })));
  const p = g.call("POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: V }] });
  for (let i = 0; i < 20; i++) await g.world.advance(1000);
  const r = await p;
  show("retry", [r.text.includes(V), g.sent.length, new Set(g.sent.map(s => tok(s.body))).size, leak(g.log), g.log.some(l => /qz[a-z]{16}/.test(l))]);
});
await t("socket-ish big", async () => {
  // a value longer than pieces, many strings
  const g = gw(conf(["find: [email], action: replace"]), (b) => json(completion({ content: (b.match(TOKEN) ?? []).join(" ") })));
  const many = Array.from({ length: 300 }, (_, i) => `u${i}@example.com`).join(" ");
  const r = await g.call("POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: many }] });
  show("many", JSON.parse(r.text).choices[0].message.content === many);
});
Deno.exit(0);
