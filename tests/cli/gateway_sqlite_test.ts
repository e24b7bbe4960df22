import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { COMPLETION } from "../support/chat_call.ts";
import { startUpstream } from "../support/upstream.ts";
import { configFile, ran, testClient, whileServing } from "./test_terminal.ts";

function configText(url: string, path: string): string {
  return `
server: {port: 0}
state: {store: sqlite, sqlite: {path: "${path}"}}
providers: {up: {type: compat, base_url: "${url}"}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`;
}

Deno.test("a stored response outlives the gateway, which opens its store again", async () => {
  const folder = await Deno.makeTempDir();
  await using upstream = startUpstream(({ json }) => json(200, COMPLETION));
  using file = await configFile(configText(upstream.url, `${folder}/state.db`));
  let path = "";
  for (const [method, body] of [["POST", '{"model":"m","input":"x"}'], ["GET", null]] as const) {
    await whileServing(["--config", file.path], async (terminal) => {
      using client = testClient();
      const [, url = ""] = await terminal.printed(/listens on (\S+)\n/);
      const reply = await client.fetch(`${url}/v1/responses${path}`, { method, body });
      assertEquals(reply.status, 200);
      const { id } = await reply.json();
      path = `/${id}`;
      const ready = await client.fetch(`${url}/ready`);
      assertEquals((await ready.json()).state, "ok");
    });
  }
  assertEquals(upstream.requests.length, 1);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a store that cannot be opened is one problem line and exit code 1", async () => {
  const folder = await Deno.makeTempDir();
  using file = await configFile(configText("http://127.0.0.1:1", `${folder}/missing/state.db`));
  const { code, err } = await ran(["--config", file.path]);
  assertEquals(code, 1);
  assertMatch(err, /^[^\n]*missing\/state\.db[^\n]*\n$/);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("client keys, provider keys and request headers are in no file of the state store", async () => {
  const folder = await Deno.makeTempDir();
  await using upstream = startUpstream(({ json }) => json(200, COMPLETION));
  const keys =
    "security: {enabled: true, api_key: {keys: [{name: a, value: marked-client-key}]}}\n";
  using file = await configFile(
    configText(upstream.url, `${folder}/state.db`)
      .replace("type: compat,", "type: compat, api_key: marked-provider-key,") + keys,
  );
  await whileServing(["--config", file.path], async (terminal) => {
    using client = testClient();
    const [, url = ""] = await terminal.printed(/listens on (\S+)\n/);
    const reply = await client.fetch(`${url}/v1/responses`, {
      method: "POST",
      headers: { authorization: "Bearer marked-client-key", "x-team": "marked-header" },
      body: '{"model":"m","input":"stored-input"}',
    });
    assertEquals(reply.status, 200);
    await reply.body?.cancel();
  });
  const files = [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`);
  const stored = files.map((path) => new TextDecoder("latin1").decode(Deno.readFileSync(path)));
  assert(stored.some((text) => text.includes("stored-input")));
  assertEquals(stored.filter((text) => text.includes("marked-")), []);
  await Deno.remove(folder, { recursive: true });
});
