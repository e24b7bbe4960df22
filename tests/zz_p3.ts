import { chunk, completion, conf, gw, json, sse, TOKEN } from "./zz_lib.ts";
import { compile } from "../src/gateway/compile.ts";
import { parsedConfig } from "./support/parsed_config.ts";
const V = "bob.miller@example.com", CARD = "4111111111111111";
function show(title: string, v: unknown) { console.log("== " + title + ": " + (typeof v === "string" ? v : JSON.stringify(v))); }
const leak = (s: unknown) => JSON.stringify(s).includes("bob.miller") || JSON.stringify(s).includes(CARD);
const tok = (b: string) => (b.match(TOKEN) ?? ["none"])[0];
async function t(n: string, f: () => Promise<void>) { try { await f(); } catch (e) { show("ERR " + n, String((e as Error).stack)); } }
await t("mask verified", async () => {
  const g = gw(conf(["find: [email], action: mask"]), () => json({ model: "m", message: { content: "", tool_calls: [{ function: { name: "f", arguments: { to: "[email]" } } }] }, done: true, done_reason: "stop" }));
  const parameters = { type: "object", additionalProperties: false, required: ["to"], properties: { to: { type: "string", enum: [V, "eve@example.com"] } } };
  const r = await g.call("POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: "x" }], tools: [{ type: "function", function: { name: "f", strict: true, parameters } }] }, { "x-target": "local" });
  show("mask verified", [...r.headers].filter(([n]) => n.startsWith("x-gateway")));
});
await t("cache x response rule", async () => {
  for (const action of ["mask", "refuse", "monitor"]) {
    const g = gw(conf([`find: [email], phase: response, action: ${action}`], "caching: {enabled: true}"), () => json(completion({ content: "to eve@example.com" })));
    for (let i = 0; i < 2; i++) { const r = await g.call("POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: "x" }] }); show("cache " + action, [r.status, r.headers.get("x-gateway-cache-status"), r.text.slice(0, 260), g.sent.length]); }
  }
});
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
await t("compact", async () => {
  const g = gw(conf(["find: [email], action: replace"]), (b, url) => url.endsWith("/compact") ? json({ id: "cmp_1", object: "response.compaction", created_at: 1, output: [{ type: "message", id: "msg_1", role: "user", status: "completed", content: [{ type: "input_text", text: "Mail " + tok(b) }] }, { type: "compaction", id: "c_1", encrypted_content: "A".repeat(80) }], usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } }) : json({ id: "resp_2", object: "response", created_at: 1, model: "m", status: "completed", output: [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "to " + tok(b), annotations: [] }] }], usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } }));
  const h = { "x-target": "native" };
  const c = await g.call("POST", "/v1/responses/compact", { model: "m", input: "Mail " + V }, h);
  show("compact", c.text);
  const items = JSON.parse(c.text).output;
  const n = await g.call("POST", "/v1/responses", { model: "m", input: [...items, { role: "user", content: "go" }] }, h);
  show("after compact", [n.status, n.text.includes(V), leak(g.sent), g.sent.map(s => tok(s.body))]);
});
await t("choices", async () => {
  const g = gw(conf(["words: ['Blue \"Falcon\"', 'Falcon'], action: replace", "find: [email, card], action: replace"]), (b) => {
    const ts = b.match(TOKEN)!; const ev: (object | string)[] = [];
    const args = [0, 1].map(i => [`{"a":"${ts[i]}","b":"${ts[2]!.toUpperCase()}"}`, `{"x":["${ts[2]}"]}`]);
    const n = Math.max(...args.flat().map(a => a.length));
    for (let at = 0; at < n; at++) for (const c of [0, 1]) for (const k of [0, 1]) { const piece = args[c]![k]!.slice(at, at + 1); if (piece) ev.push(chunk({ tool_calls: [{ index: k, ...at === 0 && { id: `t${c}${k}`, type: "function" }, function: { ...at === 0 && { name: "f" }, arguments: piece } }] }, null, c)); }
    for (const c of [0, 1]) ev.push(chunk({}, "tool_calls", c)); ev.push("data: [DONE]\n\n"); return sse(ev);
  });
  const r = await g.call("POST", "/v1/chat/completions", { model: "m", n: 2, stream: true, tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }], messages: [{ role: "user", content: `A Blue "Falcon" and Falcon, ${V} ${CARD}` }] });
  const out: Record<string, string> = {};
  for (const [, d] of r.text.matchAll(/data: (\{.*)/g)) for (const c of JSON.parse(d!).choices) for (const k of c.delta?.tool_calls ?? []) out[`${c.index}${k.index}`] = (out[`${c.index}${k.index}`] ?? "") + (k.function.arguments ?? "");
  show("choices", Object.values(out).map(o => JSON.parse(o)));
});
await t("unread", async () => {
  const g = gw(conf(["find: [email], action: replace"], "", ", unread: refuse"), () => json({ error: { message: "no" } }, 400));
  for (const content of [[{ type: "image_url", image_url: { url: "https://x.test/a.png" } }], [{ type: "file", file: { file_id: "file-1" } }], [{ type: "input_audio", input_audio: { data: "QUJD".repeat(4), format: "wav" } }], [{ type: "image_url", image_url: { url: "data:image/png;base64,QUJD" } }], [{ type: "image_url", image_url: { url: "DATA:image/png;base64," + "QUJD".repeat(30) } }], [{ type: "file", file: { file_data: "data:application/pdf;base64," + "QUJD".repeat(30), filename: "x.pdf" } }], [{ type: "image_url", image_url: { url: " data:image/png;base64," + "QUJD".repeat(30) } }], [{ type: "image_url", image_url: { url: "QUJD".repeat(30) } }], "QUJD".repeat(300)]) {
    const r = await g.call("POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content }] });
    show("unread", [JSON.stringify(content).slice(0, 90), r.status, r.text.slice(0, 110)]);
  }
  for (const content of [[{ type: "image", source: { type: "url", url: "https://x/a.png" } }], [{ type: "document", source: { type: "base64", media_type: "application/pdf", data: "QUJD".repeat(30) } }], [{ type: "document", source: { type: "text", media_type: "text/plain", data: "x " + V } }], [{ type: "tool_result", tool_use_id: "t", content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "QUJD".repeat(30) } }] }],[{ type: "image", source: { type: "base64", media_type: "image/png", data: "QUJD" } }]]) {
    const r = await g.call("POST", "/v1/messages", { model: "m", max_tokens: 9, messages: [{ role: "user", content }] }, { "x-target": "messages" });
    show("unread m", [JSON.stringify(content).slice(0, 90), r.status, r.text.slice(0, 110), leak(g.sent.at(-1))]);
  }
});
await t("stored chat metadata", async () => {
  const made: Record<string, unknown> = {};
  const g = gw(conf(["find: [email], action: replace"]), (b, url, init) => { if (init.method === "POST") Object.assign(made, completion({ content: "to " + tok(b) }), { id: "chatcmpl-1", metadata: b.includes("metadata") ? JSON.parse(b).metadata : {} }); return json(made); });
  await g.call("POST", "/v1/chat/completions", { model: "m", store: true, messages: [{ role: "user", content: "x" }] });
  const u = await g.call("POST", "/v1/chat/completions/chatcmpl-1", { metadata: { owner: V, id: V } });
  const r = await g.call("GET", "/v1/chat/completions/chatcmpl-1");
  show("metadata", [u.text, r.text, r.headers.get("x-gateway-redacted")]);
});
Deno.exit(0);
