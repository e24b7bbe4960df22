import { chunk, completion, conf, gw, json, sse, TOKEN } from "./zz_lib.ts";
const V = "bob.miller@example.com", CARD = "4111111111111111";
function show(title: string, v: unknown) { console.log("== " + title + ": " + (typeof v === "string" ? v : JSON.stringify(v))); }
const leak = (s: unknown) => JSON.stringify(s).includes("bob.miller") || JSON.stringify(s).includes(CARD);
const tok = (b: string) => (b.match(TOKEN) ?? ["none"])[0];
try { // a. mask + enum strict
  const g = gw(conf(["find: [email], action: mask"]), () => json({ model: "m", message: { content: "", tool_calls: [{ function: { name: "f", arguments: { to: "[email]" } } }] }, done: true, done_reason: "stop" }));
  const parameters = { type: "object", additionalProperties: false, required: ["to"], properties: { to: { type: "string", enum: [V, "eve@example.com"] } } };
  const r = await g.call("POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: "x" }], tools: [{ type: "function", function: { name: "f", strict: true, parameters } }] }, { "x-target": "local" });
  show("mask enum", [r.status, r.text, g.sent.map(s => s.body)]);
} catch (e) { show("ERR", String(e)); }
try { // c. fallback after a broken stream
  for (const stream of [false, true]) {
  const g = gw(conf(["find: [email], action: replace"]), (b, url) => url.includes("chat.test") ? json({ error: { message: "no " + tok(b) } }, 500) :
    stream ? sse([`event: message_start\ndata: ${JSON.stringify({ type: "message_start", message: { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage: { input_tokens: 1, output_tokens: 1 } } })}\n\n`,
      `event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n`,
      ...[...("to " + tok(b).toUpperCase())].map(c => `event: content_block_delta\ndata: ${JSON.stringify({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: c } })}\n\n`),
      `event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n`, `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}\n\n`, `event: message_stop\ndata: {"type":"message_stop"}\n\n`])
    : json({ id: "m", type: "message", role: "assistant", model: "m", content: [{ type: "text", text: "to " + tok(b) }], stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 1 } }));
  const r = await g.call("POST", "/v1/chat/completions", { model: "m", max_tokens: 99, stream, messages: [{ role: "user", content: "Mail " + V }] }, { "x-target": "both" });
  show("fallback " + stream, [r.status, r.text.includes("bob.miller") || [...r.text.matchAll(/"content":"([^"]*)"/g)].map(m => m[1]).join(""), g.sent.length, leak(g.sent), new Set(g.sent.map(s => tok(s.body))).size]);
  }
} catch (e) { show("ERR", String(e)); }
try { // cache + stream
  const g = gw(conf(["find: [email], action: replace"], "caching: {enabled: true}"), (b) => json(completion({ content: "to " + tok(b), audio: { id: "a", data: "AAAA", transcript: "say " + tok(b), expires_at: 1 } })));
  for (let i = 0; i < 2; i++) { const r = await g.call("POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: "Mail " + V }] }); show("cache", [r.headers.get("x-gateway-cache-status"), r.text]); }
} catch (e) { show("ERR", String(e)); }
try { // relays: every one, echo
  const g = gw(conf(["find: [email, card], action: replace"]), (b) => json({ id: "x", object: "list", data: [{ id: "b1", metadata: { owner: tok(b), id: tok(b) }, filename: tok(b), revised_prompt: tok(b) }], echo: tok(b), filename: tok(b) }));
  for (const [p, b] of [["/v1/uploads", { filename: V, purpose: "x", bytes: 1, mime_type: "a/b" }], ["/v1/batches", { input_file_id: "file-1", endpoint: "/v1/responses", completion_window: "24h", metadata: { owner: V } }], ["/v1/images/generations", { prompt: "draw " + V, model: "m" }], ["/v1/moderations", { model: "m", input: [{ type: "text", text: V }, { type: "image_url", image_url: { url: "https://x.test/?u=" + V } }] }], ["/v1/completions", { model: "m", prompt: [V, "x " + CARD], suffix: V }], ["/v1/audio/speech", { model: "m", input: V, voice: "alloy", instructions: V }],
   ["/v1/embeddings", { model: "m", input: [V] }]] as const) {
    const r = await g.call("POST", p, b, { "x-gateway-provider": "chat" });
    show(p, [r.status, r.text.slice(0, 300), r.headers.get("x-gateway-redacted"), g.sent.at(-1)?.body, leak(g.sent.at(-1))]);
  }
} catch (e) { show("ERR", String(e)); }
try { // duplicates of keys, escapes, full-width, nested
  const g = gw(conf(["find: [email, card, phone, us_ssn, iban, api_key, aws_key], action: replace"]), (b) => json(completion({ content: "x" })));
  for (const content of ["bob\u200b.miller@example.com", "b\u00adob.miller@example.com", "bob.miller\uff20example.com", "bob.miller@example\u3002com", "bob.miller&#64;example.com", "bob.miller\\u0040example.com", "mailto:bob.miller%40example.com?x", "bob.miller %40 example.com", "<bob.miller@example.com>", "bob.miller@EXAMPLE.COM", "BOB.MILLER@example.com", "'bob.miller'@example.com", "bob.miller@[10.0.0.1]", "bob.miller@localhost", "411111\u00a01111111111", "4111\u00a01111\u00a01111\u00a01111", "4111\u20111111\u20111111\u20111111", "4111\t1111\t1111\t1111","4111.1111.1111.1111", "４１１１１１１１１１１１１１１１", "+1\u00a0415\u00a0555\u00a00134", "415\u2011555\u20110134", "536\u201122\u20111234", "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000", "josé@example.com", "jose\u0301@example.com", "bob@exämple.de", "bob@例え.jp", "bob.miller@example.com.", "bob.miller@example.com-x", "a@b@example.com", "x=bob.miller@example.com", "bob.miller@example.comhttps://x", "bob.miller%2540example.com", "bob.miller%20@example.com", "https://user:pässword@host/x", "https://user:p%40ss@host", "user:pass@host", "redis://:secret@host:6379"]) {
    await g.call("POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content }] });
    const m = JSON.parse(g.sent.at(-1)!.body).messages[0].content;
    if (m === content || !/qz/.test(m)) show("NOT FOUND", content); else if (!/^qz[a-z]+$/.test(m)) show("found", [content, m]);
  }
} catch (e) { show("ERR", String(e)); }
try { // tool call names that the model invents, ids, under response rules
  const g = gw(conf(["find: [email], phase: response, action: mask"]), () => json(completion({ tool_calls: [{ id: "eve@example.com", type: "function", function: { name: "eve@example.com", arguments: "{}" } }], content: "c" }, { model: "eve@example.com", system_fingerprint: "eve@example.com" })));
  show("names", (await g.call("POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: "x" }] })).text);
} catch (e) { show("ERR", String(e)); }
try { // comments, event names of a stream
  const g = gw(conf(["find: [email], phase: response, action: mask"]), () => sse([": eve@example.com\n\n", "id: eve@example.com\n" + `data: ${JSON.stringify(chunk({ content: "hi eve@example.com and" }))}\n\n`, `event: eve@example.com\ndata: ${JSON.stringify(chunk({}, "stop"))}\n\n`, "data: eve@example.com\n\n", "data: [DONE]\n\n"]));
  show("comments", (await g.call("POST", "/v1/chat/completions", { model: "m", stream: true, messages: [{ role: "user", content: "x" }] })).text);
} catch (e) { show("ERR", String(e)); }
try { // user writes the token himself; token + value
  const g = gw(conf(["find: [email], action: replace"]), (b) => json(completion({ content: JSON.parse(b).messages.map((m: { content: string }) => m.content).join("|") })));
  const r1 = await g.call("POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: V }] });
  const t = tok(g.sent.at(-1)!.body);
  for (const c of [`${V} ${t}`, `${t}`, `${V} ${t}${t}`, `${t}@example.com`, `${t}${V}`, `${V}${t}`, `x${t.slice(0, 18)}.miller@example.com ${V}`, `qzqz${t.slice(2)} ${V}`, `${V} ${t.slice(0, 10)}\u200b${t.slice(10)}`, `${V} ${t.slice(0, 9)} ${t.slice(9)}`]) {
    const r = await g.call("POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: c }] }, { "x-gateway-sessionid": "s" });
    show("self token", [c, g.sent.at(-1)!.body.slice(40), JSON.parse(r.text).choices[0].message.content]);
  }
} catch (e) { show("ERR", String(e)); }
Deno.exit(0);
