import { chunk, completion, conf, gw, json, sse, TOKEN } from "./zz_lib.ts";
const V = "bob.miller@example.com";
const CARD = "4111111111111111";
function show(title: string, v: unknown) { console.log("== " + title + ": " + (typeof v === "string" ? v : JSON.stringify(v))); }
const leak = (s: unknown) => JSON.stringify(s).includes("bob.miller") || JSON.stringify(s).includes(CARD);

{ // P1 log path
  const g = gw(conf(["find: [email, card], action: replace"]), () => json({ error: { message: "no" } }, 400));
  for (const [m, p, b, h] of [["GET", `/v1/models/${V}`], ["GET", `/v1/responses/${V}`], ["GET", `/v1/files/${V}`], ["GET", `/v1/chat/completions/${V}`],["GET", `/v1/nope/${V}`],
    ["POST", "/v1/chat/completions", { model: V, messages: [{ role: "user", content: "x" }] }],
    ["POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: "x" }] }, { "x-gateway-provider": V }],
    ["POST", "/v1/chat/completions", { model: "m", messages: [{ role: V, content: "x" }] }],
    ["POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: "x" }], temperature: V }],
    ["POST", "/v1/chat/completions", `{"model":"m", "messages": ${V}`],
    ["POST", "/v1/chat/completions", `{"model":"m", "x":"${V}", "x":"${V}","messages":[{"role":"user","content":"hi"}]}`],
    ["POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: "x" }] }, { "x-gateway-tags": V, "user-agent": V, "idempotency-key": V, "x-gateway-sessionid": V, "x-request-id": V }],
  ] as const) {
    const before = g.log.length;
    const r = await g.call(m, p, b, h ?? {});
    await new Promise(r => setTimeout(r, 5));
    const lines = g.log.slice(before);
    if (leak(lines)) show(`LOG LEAK ${m} ${p} ${JSON.stringify(h ?? b ?? "")}`, lines);
    show(`${m} ${p} ${typeof b === 'string' ? 'raw' : ''}`, [r.status, r.text.slice(0, 200)]);
  }
  const met = await g.call("GET", "/metrics");
  show("metrics leak", leak(met.text));
  show("sent", g.sent.map(s => [s.url, leak(s)]));
}
{ // numbers in token lists
  const g = gw(conf(["find: [email, card], action: replace"]), () => json({ error: { message: "no" } }, 400));
  await g.call("POST", "/v1/embeddings", { model: "m", input: [Number(CARD)] });
  await g.call("POST", "/v1/moderations", { model: "m", input: [Number(CARD)] });
  await g.call("POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: "x" }], input: [Number(CARD)] });
  show("token lists", g.sent.map(s => [s.url, leak(s), s.body]));
}
{ // rerank documents with id
  const g = gw(conf(["find: [email, card], action: replace"]), (b) => { const { documents } = JSON.parse(b); return json({ id: "r", results: documents.map((d: unknown, i: number) => ({ index: i, relevance_score: 0.5, document: d })) }); });
  const r = await g.call("POST", "/v1/rerank", { model: "m", query: "q " + V, documents: [{ id: V, text: "see " + V, type: V }] });
  show("rerank", r.text);
}
{ // number in the answer under a response rule
  for (const stream of [false, true]) {
    const rules = ["find: [card], phase: response, action: mask"];
    const args = `{"card": ${CARD}, "s":"${CARD}"}`;
    const g = gw(conf(rules), (_b, url) => url.includes("messages.test")
      ? stream ? sse([]) : json({ id: "m", type: "message", role: "assistant", model: "m", content: [{ type: "tool_use", id: "t", name: "f", input: { card: Number(CARD), s: CARD } }], stop_reason: "tool_use", usage: { input_tokens: 1, output_tokens: 1 } })
      : stream ? sse([chunk({ tool_calls: [{ index: 0, id: "t", type: "function", function: { name: "f", arguments: args } }] }), chunk({}, "tool_calls"), "data: [DONE]\n\n"])
      : json(completion({ tool_calls: [{ id: "t", type: "function", function: { name: "f", arguments: args } }] })));
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
    const r = await g.call("POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: "x" }], tools, stream });
    show("chat args " + stream, r.text);
    if (!stream) {
      const m = await g.call("POST", "/v1/messages", { model: "m", max_tokens: 9, messages: [{ role: "user", content: "x" }], tools: [{ name: "f", input_schema: { type: "object" } }] }, { "x-target": "messages" });
      show("messages input", m.text);
      const m2 = await g.call("POST", "/v1/messages", { model: "m", max_tokens: 9, messages: [{ role: "user", content: "x" }], tools: [{ name: "f", input_schema: { type: "object" } }] });
      show("chat→messages input", m2.text);
    }
  }
}
{ // BOM
  const g = gw(conf(["words: ['Blue \"Falcon\"'], action: replace"]), (b) => json("\ufeff" + JSON.stringify(completion({ content: "to " + (b.match(TOKEN) ?? ["none"])[0] }))));
  const r = await g.call("POST", "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: 'x Blue "Falcon" y' }] });
  show("BOM", r.text);
  const g2 = gw(conf(["words: ['Blue \"Falcon\"'], action: replace"]), (b) => json("\ufeff" + JSON.stringify({ results: [], x: "to " + (b.match(TOKEN) ?? ["none"])[0] })));
  const r2 = await g2.call("POST", "/v1/rerank", { model: "m", query: 'x Blue "Falcon" y', documents: ["a"] });
  show("BOM relay", r2.text);
}
{ // provider headers with tokens/strangers ; content-length, etag
  const g = gw(conf(["find: [email], action: replace", "find: [email], phase: response, action: mask"]), (b) => { const t = JSON.stringify({ results: [], x: "to " + (b.match(TOKEN) ?? ["none"])[0] + " eve@example.com" }); return json(t, 200, { "content-length": String(t.length), etag: "abc", "x-note": "eve@example.com", "content-digest": "sha-256=:x:" }); });
  const r = await g.call("POST", "/v1/rerank", { model: "m", query: V, documents: ["a"] });
  show("headers", [r.text, [...r.headers]]);
}
Deno.exit(0);
