// Live attack: a running gateway over each store.
import { newRealWorld } from "../../src/cli/real_world.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { program } from "../cli/program.ts";
import { openSocketClient } from "../support/socket_client.ts";
import { startValkeyServer } from "../support/valkey_server.ts";
import { WRITTEN_KEY } from "../record/support.ts";

const which = Deno.args.length > 0 ? Deno.args : ["memory", "sqlite", "valkey"];
const upstream = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  newSimulator(newRealWorld()),
);
const base = `http://127.0.0.1:${upstream.addr.port}`;
const KEY = "ada/secret+key=1234567890";
async function run(...args: string[]) {
  const { child, out, err } = program(args);
  const [o, e, s] = await Promise.all([out.rest(), err.rest(), child.status]);
  return { code: s.code, out: o, err: e };
}
for (const store of which) {
  const folder = await Deno.makeTempDir();
  const valkey = store === "valkey" ? await startValkeyServer() : null;
  const state = store === "memory"
    ? "store: memory"
    : store === "sqlite"
    ? `store: sqlite, sqlite: {path: ${folder}/state.db}`
    : `store: valkey, valkey: {url: "${valkey!.url}"}`;
  const text = (
    route = "main",
    extra = "",
    record = "enabled: true, calls: all, policy: credentials",
  ) => `
server: {port: 0}
admin: {enabled: true, port: 0, password: "a long password"}
providers:
  sim: {type: compat, base_url: "${base}/compat/v1", api_key: k, default_model: sim-echo, capabilities: {relay: [completions, moderations, images, audio, files, batches, rerank]}}
  claude: {type: messages, base_url: "${base}/messages", api_key: k, default_model: sim-echo}
  native: {type: compat, base_url: "${base}/compat/v1", api_key: k, default_model: sim-echo, capabilities: {responses_lifecycle: true, conversations: true, response_input_tokens: true, response_compaction: true}}
security: {enabled: true, api_key: {keys: [{name: ada, value: "${KEY}"}, {name: bob, value: "bob-secret-key-000", record: never}]}}
routing:
  routes:
    - {name: nat, match: {headers: {x-gateway-route: nat}}, targets: [{provider: native, upstream_request_type: responses}]}
    - {name: ${route}, targets: [{provider: sim}], fallback: [{provider: claude}]}
state: {${state}, encryption_keys: ["${WRITTEN_KEY}"]}
record: {${record}, path: "${folder}/record.db"}
${extra}`;
  const config = `${folder}/config.yaml`;
  const pw = `${folder}/pw`;
  await Deno.writeTextFile(pw, "a long password");
  await Deno.writeTextFile(config, text());
  const gw = program(["--config", config]);
  const m = await gw.out.until(/listens on (\S+)/);
  if (m === null) {
    console.log("NO START", await gw.err.rest(), await gw.out.rest());
    continue;
  }
  const url = m[1]!;
  const am = await gw.out.until(/Admin page: (http\S+?)\/?\s/).catch(() => null);
  console.log(store, url, am?.[1]);
  const auth = { authorization: `Bearer ${KEY}` };
  const post = async (
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
    method = "POST",
  ) => {
    const r = await fetch(url + path, {
      method,
      headers: {
        ...auth,
        ...(body instanceof FormData ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === null ? {} : {
        body: body instanceof FormData || typeof body === "string" ? body : JSON.stringify(body),
      }),
    });
    const t = await r.text();
    console.log("  ", method, path, r.status, t.slice(0, 90).replaceAll("\n", " "));
    return { status: r.status, text: t, json: () => JSON.parse(t) };
  };
  const msg = [{ role: "user", content: `Hi there marker-${store}` }];
  const k = encodeURIComponent(KEY);
  await post(`/v1/chat/completions?key=${k}`, { messages: msg });
  await post(`/v1/chat/completions?x=${KEY}`, { messages: msg, stream: true });
  await post(`/v1/chat/completions`, { messages: [{ role: "user", content: `my key is ${KEY}` }] });
  await post(`/v1/chat/completions`, {
    messages: msg,
    tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
  });
  await post(`/v1/chat/completions`, { messages: msg, top_k: 3, seed: 4 });
  await post(`/v1/messages?beta=true`, { max_tokens: 20, messages: msg, model: "x" });
  await post(`/v1/messages`, { max_tokens: 20, messages: msg, model: "x", stream: true });
  await post(`/v1/messages/count_tokens`, { messages: msg, model: "x" });
  const r1 = await post(`/v1/responses`, { model: "auto", input: "Hi" });
  const id1 = (() => {
    try {
      return r1.json().id;
    } catch {
      return "none";
    }
  })();
  const r2 = await post(`/v1/responses`, {
    model: "auto",
    input: "Again",
    previous_response_id: id1,
    stream: true,
  });
  void r2;
  await post(`/v1/responses`, { model: "auto", input: "U", store: false });
  await post(`/v1/responses`, {
    model: "auto",
    input: "Bad",
    previous_response_id: "resp_nothing",
  });
  await post(`/v1/responses`, { model: "native/sim-echo", input: "Nat" });
  await post(`/v1/responses/input_tokens`, { model: "native/sim-echo", input: "Nat" });
  await post(`/v1/responses/compact`, { model: "native/sim-echo", input: "Nat" });
  const conv = (await post(`/v1/conversations`, {})).json();
  await post(`/v1/responses`, { model: "auto", input: "C1", conversation: conv.id });
  await post(`/v1/responses`, { model: "auto", input: "C2", conversation: conv.id });
  await post(`/v1/conversations/${conv.id}/items?limit=3`, null, {}, "GET");
  await post(`/v1/embeddings`, { model: "sim-embed", input: "text" });
  await post(`/v1/completions`, { model: "sim-echo", prompt: "text" });
  await post(`/v1/moderations`, { input: "text" });
  for (const p of ["/v1/rerank", "/v2/rerank", "/rerank"]) {
    await post(p, { model: "sim-echo", query: "a", documents: ["a", "b"] });
  }
  await post(`/v1/images/generations`, { prompt: "a cat" });
  await post(`/v1/audio/speech`, { model: "tts", input: "hello", voice: "alloy" });
  const form = new FormData();
  form.set("purpose", "batch");
  form.set("file", new Blob(['{"custom_id":"a"}']), "a.jsonl");
  const f = await post(`/v1/files`, form);
  try {
    await post(`/v1/batches`, {
      input_file_id: f.json().id,
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
    });
  } catch { /* no */ }
  const audio = new FormData();
  audio.set("model", "whisper");
  audio.set("file", new Blob(["RIFF"]), "a.wav");
  await post(`/v1/audio/transcriptions`, audio);
  await post(`/v1/models`, null, {}, "GET");
  await post(`/v1/responses/${k}`, null, {}, "GET");
  await post(`/v1/chat/completions`, "{broken");
  await post(
    `/v1/chat/completions`,
    `{"messages":[{"role":"user","content":${"[".repeat(100000)}${"]".repeat(100000)}}]}`,
  );
  await post(`/v1/chat/completions`, { messages: msg }, {
    "x-gateway-no-record": "true",
    "x-gateway-sessionid": "marker-never",
  });
  await post(`/v1/chat/completions`, { messages: [{ role: "user", content: "marker-bob" }] }, {
    authorization: "Bearer bob-secret-key-000",
  });
  await post(`/v1/chat/completions`, { messages: [{ role: "user", content: "marker-wrong" }] }, {
    authorization: "Bearer wrong",
  });
  await post(`/v1/chat/completions`, {
    messages: msg,
    response_format: {
      type: "json_schema",
      json_schema: { name: "a", schema: { type: "object" } },
    },
  });
  await post(`/v1/chat/completions`, { messages: msg }, {
    "x-gateway-sessionid": KEY,
    "x-gateway-api-key": "marker-hdr",
  });
  // WebSocket
  const socket = await openSocketClient(url, auth);
  const t1 = await socket.turn({
    type: "response.create",
    model: "auto",
    input: "ws one",
    store: false,
  });
  console.log("   ws", t1.ending, t1.id);
  const t2 = await socket.turn({
    type: "response.create",
    model: "auto",
    input: "ws two",
    store: false,
    previous_response_id: t1.id,
  });
  console.log("   ws", t2.ending);
  const w = await socket.turn({
    type: "response.create",
    model: "auto",
    input: "warm",
    generate: false,
    store: false,
  });
  const t3 = await socket.turn({
    type: "response.create",
    model: "auto",
    input: "ws three",
    store: false,
    previous_response_id: w.id,
  });
  console.log("   ws", w.ending, t3.ending);
  const t4 = await socket.turn({
    type: "response.create",
    response: { model: "auto", input: "ws four" },
    stream_id: "s1",
  });
  console.log("   ws", t4.ending);
  await socket.close();
  await new Promise((r) => setTimeout(r, 800));
  // While it runs: through the admin listener.
  const adminUrl = am?.[1] ?? "";
  const place = ["--config", config, ...(adminUrl ? ["--url", adminUrl, "--password", pw] : [])];
  const live = await run("log", "--limit", "3", ...place);
  console.log("live log", live.code, live.out.slice(0, 400), live.err.slice(0, 300));
  gw.child.kill("SIGTERM");
  const [rest, errs] = await Promise.all([gw.out.rest(), gw.err.rest(), gw.child.status]);
  for (const t of [rest, errs]) {
    for (const marker of ["marker-", KEY, k]) {
      if (t.includes(marker)) console.log("!! LOG LEAK", marker);
    }
  }
  const info = await run("record", "info", "--config", config);
  console.log(info.out, info.err);
  const exported = await run("log", "--export", "--config", config);
  console.log("export", exported.code, exported.err, exported.out.length);
  for (
    const marker of [
      "marker-never",
      "marker-bob",
      "marker-wrong",
      "marker-hdr",
      KEY,
      k,
      "secret+key",
      "secret%2Bkey",
      "bob-secret",
    ]
  ) {
    if (exported.out.includes(marker)) {
      console.log(
        "!! RECORD LEAK",
        marker,
        exported.out.split("\n").filter((l) => l.includes(marker)).map((l) => l.slice(0, 300)),
      );
    }
  }
  const set = `${folder}/calls.jsonl`;
  await Deno.writeTextFile(set, exported.out);
  for (const line of exported.out.split("\n").filter(Boolean)) {
    const r = JSON.parse(line);
    console.log(
      "   rec",
      r.head.method,
      r.head.path,
      r.head.api,
      r.head.status,
      r.head.end,
      r.head.cut.join(),
      r.request ? "req" : "-",
      r.response
        ? (r.response.body !== null ? "body" : r.response.events !== null ? "events" : "none")
        : "-",
      r.request?.query ?? "",
      r.head.key,
    );
  }
  const same = await run(
    "replay",
    "--records",
    set,
    "--config",
    config,
    "--against",
    config,
    "--fail-on",
    "any",
  );
  console.log("same", same.code, same.out, same.err);
  const same4 = await run(
    "replay",
    "--records",
    set,
    "--config",
    config,
    "--against",
    config,
    "--fail-on",
    "any",
    "--jobs",
    "4",
  );
  console.log("jobs equal", same4.out === same.out, same4.code);
  await Deno.writeTextFile(`${folder}/other.yaml`, text("other"));
  const other = await run(
    "replay",
    "--records",
    set,
    "--config",
    config,
    "--against",
    `${folder}/other.yaml`,
    "--fail-on",
    "any",
    "--all",
  );
  const other3 = await run(
    "replay",
    "--records",
    set,
    "--config",
    config,
    "--against",
    `${folder}/other.yaml`,
    "--fail-on",
    "any",
    "--all",
    "--jobs",
    "3",
  );
  console.log(
    "other",
    other.code,
    other.out.slice(0, 6000),
    other.err,
    "jobs equal",
    other.out === other3.out,
  );
  const direct = await run(
    "replay",
    "--config",
    config,
    "--against",
    `${folder}/other.yaml`,
    "--fail-on",
    "any",
    "--all",
  );
  console.log("direct equal", direct.out === other.out, direct.code, direct.err);
  console.log(folder);
  await valkey?.close();
}
await upstream.shutdown();
Deno.exit(0);
