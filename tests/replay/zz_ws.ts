import { differencesIn, recordOf, replayed } from "../support/replay.ts";
const BASE = `
providers:
  claude: {type: messages, base_url: "https://api.anthropic.com", api_key: sk-2, default_model: claude-x}
  openai: {type: compat, base_url: "https://api.openai.com/v1", api_key: sk-1, default_model: gpt-4o}
  native: {type: compat, base_url: "https://api.openai.com/v1", api_key: sk-1, default_model: gpt-4o, capabilities: {responses: true}}
routing:
  routes:
    - name: main
      targets: [{provider: claude}]
`;
const resp = (id: string, store: boolean) => ({ id, object: "response", status: "completed", store, output: [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "Lima.", annotations: [] }] }] });
const ev = (r: unknown) => ({ headers: {}, body: null, events: `event: response.completed\ndata: ${JSON.stringify({ type: "response.completed", response: r })}\n\n` });
for (const base of [BASE, BASE.replace("targets: [{provider: claude}]", "targets: [{provider: native}]")]) {
for (const method of ["GET", "POST"]) {
  for (const store of [true, false]) {
    const one = { ...recordOf("/v1/responses", { type: "response.create", model: "auto", store, input: "Hi" }, { head: { method } , response: ev(resp("resp_1", store)) }), id: "1", at: "2026-11-23T14:02:11.000Z" };
    const two = { ...recordOf("/v1/responses", { type: "response.create", model: "auto", store, input: "And", previous_response_id: "resp_1" }, { head: { method }, previous: { response: "resp_1", record: null } }), id: "2", at: "2026-11-23T14:03:11.000Z" };
    const report = await replayed([one, two], base, base.replace("name: main", "name: other"));
    console.log(method, store, report.replayed, report.different, [...report.skipped], differencesIn(report));
  }
}
const warm = { ...recordOf("/v1/responses", { type: "response.create", model: "auto", generate: false, input: [] }, { head: { method: "GET" }, response: ev({ ...resp("resp_w", false), output: [] }) }), id: "1", at: "2026-11-23T14:02:11.000Z" };
const two = { ...recordOf("/v1/responses", { type: "response.create", model: "auto", store: false, stream_id: "s", input: "And", previous_response_id: "resp_w" }, { head: { method: "GET" }, previous: { response: "resp_w", record: null } }), id: "2", at: "2026-11-23T14:03:11.000Z" };
for (const rs of [[warm], [warm, two]]) {
const report = await replayed(rs, base, base.replace("name: main", "name: other"));
console.log("warm", report.replayed, report.different, [...report.skipped], differencesIn(report));
}
}
