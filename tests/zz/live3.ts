import { newRealWorld } from "../../src/cli/real_world.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { program } from "../cli/program.ts";
import { startValkeyServer } from "../support/valkey_server.ts";
import { WRITTEN_KEY } from "../record/support.ts";
const upstream = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  newSimulator(newRealWorld()),
);
const base = `http://127.0.0.1:${upstream.addr.port}`;
const folder = await Deno.makeTempDir();
const config = `${folder}/c.yaml`;
const KEY2 = btoa("b".repeat(32));
const write = (record: string, state = `encryption_keys: ["${WRITTEN_KEY}"]`, more = "") =>
  Deno.writeTextFile(
    config,
    `
server: {port: 0${more}}
admin: {enabled: true, port: 0, password: "a long password"}
providers: {sim: {type: compat, base_url: "${base}/compat/v1", api_key: k, default_model: sim-echo}}
routing: {routes: [{name: main, targets: [{provider: sim}]}]}
state: {${state}}
record: {path: "${folder}/record.db", ${record}}
`,
  );
async function run(...args: string[]) {
  const { child, out, err } = program(args);
  const [o, e, s] = await Promise.all([out.rest(), err.rest(), child.status]);
  return { code: s.code, out: o, err: e };
}
async function start() {
  const gw = program(["--config", config]);
  const m = await gw.out.until(/listens on (\S+)/);
  if (m === null) {
    console.log("NO START", await gw.err.rest(), await gw.out.rest());
    return null;
  }
  const admin = (await gw.out.until(/Admin page: (\S+)\//))![1]!;
  return { ...gw, url: m[1]!, admin };
}
const call = async (url: string, text: string) => {
  const r = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "sim-echo", messages: [{ role: "user", content: text }] }),
  });
  await r.text();
  return r.status;
};
const sleep = (ms: number) => new Promise((r) => setTimeout(r, ms));
await write("enabled: true, calls: none");
let gw = (await start())!;
const reload = async () => {
  gw.child.kill("SIGHUP");
  await gw.err.until(/configuration (reloaded|unchanged)/);
  await sleep(700);
};
console.log(await call(gw.url, "n1"));
await write("enabled: true, calls: all");
await reload();
await call(gw.url, "a1");
await write("enabled: true, calls: heads");
await reload();
await call(gw.url, "h1");
await write("enabled: true, calls: all, policy: none");
await reload();
await call(gw.url, "sk-ant-api03-" + "a1B2".repeat(10));
await write("enabled: true, calls: all, policy: credentials");
await reload();
await call(gw.url, "sk-ant-api03-" + "c1B2".repeat(10));
// Admin listener attacks.
const headers = { authorization: `Basic ${btoa("x:a long password")}` };
for (
  const [path, init] of [
    ["/log", {}],
    ["/log", { headers }],
    ["/log?limit=1001", { headers }],
    ["/log?limit=Infinity", { headers }],
    ["/log?cursor=0", { headers }],
    ["/log?regex=(", { headers }],
    ["/log?regex=a{1000}", { headers }],
    ["/log?text=%00", { headers }],
    ["/log/", { headers }],
    ["/log/../snapshot", { headers }],
    ["/log/%2e%2e", { headers }],
    ["/log?content=true&limit=1", { headers: { ...headers, origin: "http://evil" } }],
    ["/log", { headers, method: "POST" }],
    ["/log", { headers, method: "HEAD" }],
    ["/log", { headers: { ...headers, host: "evil.example" } }],
  ] as const
) {
  const r = await fetch(gw.admin + path, init as RequestInit);
  const t = await r.text();
  console.log(
    path,
    (init as RequestInit).method ?? "GET",
    r.status,
    t.slice(0, 100).replaceAll("\n", " | "),
  );
}
// five readers that never read
const held = [];
for (let i = 0; i < 5; i++) {
  held.push(await fetch(`${gw.admin}/log?content=true&limit=Infinity`, { headers }));
}
const sixth = await fetch(`${gw.admin}/log`, { headers });
console.log("sixth", sixth.status);
await sixth.body?.cancel();
for (const r of held) await r.body?.cancel();
await sleep(300);
const seventh = await fetch(`${gw.admin}/log`, { headers });
console.log("after leaving", seventh.status);
await seventh.body?.cancel();
await write("enabled: false, calls: all");
await reload();
console.log("off", await call(gw.url, "off1"));
await write("enabled: true, calls: all");
await reload();
console.log("on again", await call(gw.url, "on1"));
gw.child.kill("SIGTERM");
console.log(
  (await gw.err.rest()).split("\n").filter((l) => /record|restart/.test(l)).slice(-6).join("\n"),
);
await gw.out.rest();
console.log("exit", (await gw.child.status).code);
const texts = async () => {
  const e = await run("log", "--export", "--config", config);
  return [
    e.code,
    e.err.trim(),
    ...e.out.split("\n").filter(Boolean).map((l) => {
      const r = JSON.parse(l);
      return r.request ? JSON.parse(r.request.body).messages[0].content : "head";
    }),
  ];
};
console.log("records", await texts());
// rotation
await write("enabled: true, calls: all", `encryption_keys: ["${KEY2}", "${WRITTEN_KEY}"]`);
gw = (await start())!;
await call(gw.url, "rotated");
gw.child.kill("SIGTERM");
await Promise.all([gw.err.rest(), gw.out.rest(), gw.child.status]);
console.log("both", await texts());
await write("enabled: true, calls: all", `encryption_keys: ["${KEY2}"]`);
console.log(
  "new only",
  await texts(),
  (await run("log", "--config", config)).out,
  (await run("record", "info", "--config", config)).out,
);
gw = (await start())!;
await call(gw.url, "new only");
gw.child.kill("SIGKILL");
await Promise.all([gw.err.rest(), gw.out.rest(), gw.child.status]);
console.log("killed at once", await texts());
// refused configurations
for (
  const [r, s, m] of [
    ["enabled: true", "", ""],
    ["enabled: true", `encryption_keys: ["${KEY2}"]`, ", workers: 2"],
    ["enabled: true, keep: 1s", `encryption_keys: ["${KEY2}"]`, ""],
    ["enabled: true, policy: nope", `encryption_keys: ["${KEY2}"]`, ""],
  ] as const
) {
  await write(r, s, m);
  const c = await run("check", "--config", config);
  console.log("check", c.code, c.err.slice(0, 200), c.out.slice(0, 200));
  const g = await run("--config", config);
  console.log("start", g.code, g.err.slice(0, 150));
}
// store away
const valkey = await startValkeyServer();
await write(
  "enabled: true, calls: all",
  `store: valkey, valkey: {url: "${valkey.url}"}, encryption_keys: ["${KEY2}"]`,
);
gw = (await start())!;
await call(gw.url, "before away");
await valkey.kill();
const post = async (body: unknown) => {
  const r = await fetch(`${gw.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  console.log("away", r.status, (await r.text()).slice(0, 100));
};
await post({ model: "sim-echo", input: "away one" });
await post({ model: "sim-echo", input: "away two", previous_response_id: "resp_x" });
console.log(await call(gw.url, "away chat"));
await sleep(700);
gw.child.kill("SIGTERM");
await Promise.all([gw.err.rest(), gw.out.rest(), gw.child.status]);
const l = await run("log", "--config", config, "--limit", "5");
console.log(l.out, l.err);
await valkey.close();
await upstream.shutdown();
Deno.exit(0);
