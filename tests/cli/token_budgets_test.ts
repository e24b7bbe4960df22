import { COMPLETION } from "../support/chat_call.ts";
import { USAGE } from "../support/limited_gateway.ts";
import { newSigningKey, tokenSecurity } from "../support/token_issuer.ts";
import { startUpstream } from "../support/upstream.ts";
import { assertEquals } from "../support/assert.ts";
import { configFile, testClient, whileServing } from "./test_terminal.ts";

/** The year 2096, because the program has the clock of the machine. */
const EXP_S = 3_999_999_999;

Deno.test("budgets of a template and of its group survive a restart with state.store sqlite", async () => {
  const key = await newSigningKey("k1");
  const folder = await Deno.makeTempDir();
  const keys = `${folder}/keys.json`;
  await Deno.writeTextFile(keys, JSON.stringify({ keys: [key.publicJwk] }));
  await using upstream = startUpstream(({ json }) => json(200, { ...COMPLETION, usage: USAGE }));
  const budgets = (tokens: number) => [{ per: "month", tokens }];
  using file = await configFile(`
server: {port: 0}
state: {store: sqlite, sqlite: {path: "${folder}/state.db"}}
${
    tokenSecurity({ jwks_url: undefined as never, jwks_file: keys }, {
      templates: [{ name: "admin" }, { name: "developer", budgets: budgets(20) }],
      groups: [{ name: "all", templates: ["developer"], budgets: budgets(45) }],
    })
  }
providers: {up: {type: compat, base_url: "${upstream.url}"}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`);
  const runs = [["ada", "ada", "ada", "bob"], ["ada", "bob", "eve"]];
  const seen: number[][] = [];
  for (const subjects of runs) {
    const statuses: number[] = [];
    await whileServing(["--config", file.path], async (terminal) => {
      using client = testClient();
      const [, url = ""] = await terminal.printed(/listens on (\S+)\n/);
      for (const sub of subjects) {
        const response = await client.fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${await key.sign({ sub, exp: EXP_S })}` },
          body: '{"model":"m","messages":[{"role":"user","content":"Hi"}]}',
        });
        await response.text();
        statuses.push(response.status);
      }
    });
    seen.push(statuses);
  }
  assertEquals(seen, [[200, 200, 429, 200], [429, 200, 429]]);
  await Deno.remove(folder, { recursive: true });
});
