import { COMPLETION } from "../support/chat_call.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { startUpstream } from "../support/upstream.ts";
import { withWorkers } from "./running_workers.ts";

const CHAT = {
  method: "POST",
  body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] }),
};

Deno.test("the parent fetches one token for all workers, and another one when a provider refuses it", async () => {
  let issued = 0;
  let refused = "";
  await using cloud = startUpstream(async (exchange) => {
    const { path, headers } = exchange.request;
    if (path === "/t/oauth2/v2.0/token") {
      return await exchange.json(200, { access_token: `token-${++issued}`, expires_in: 3_600 });
    }
    const { authorization = "" } = headers;
    return authorization === `Bearer ${refused}`
      ? await exchange.json(401, { error: { message: "The token is revoked." } })
      : await exchange.json(200, { ...COMPLETION, model: authorization });
  });
  const credential =
    `{type: entra, tenant: t, client_id: c, client_secret: client-secret, authority: "${cloud.url}"}`;
  // What is handed over of 100 credentials, here that they cannot be had, ends no worker.
  const keys = Array.from(
    { length: 100 },
    (_, at) => ({ name: `k${at}`, credential: { type: "file", path: `missing-${at}` } }),
  );
  const config = () => `
server: {port: 0, workers: 2}
state: {store: none}
providers:
  up: {type: compat, base_url: "${cloud.url}/v1", credential: ${credential}}
  many: {type: compat, base_url: "${cloud.url}/v1", api_keys: ${JSON.stringify(keys)}}
routing: {routes: [{name: all, targets: [{provider: up}]}]}
`;
  await withWorkers(config, async ({ path, log: logSoFar, ...running }) => {
    const { send, metric, child, ended, killWorker, logged } = running;
    const ask = async () => {
      const answers = await Promise.all(
        Array.from({ length: 24 }, () => send("/v1/chat/completions", CHAT)),
      );
      return new Set(
        answers.map(({ status, text }) => `${status} ${/"Bearer (token-\d)"/.exec(text)?.[1]}`),
      );
    };
    assertEquals(await ask(), new Set(["200 token-1"]));
    refused = "token-1";
    assertEquals(await ask(), new Set(["200 token-2"]));
    assertEquals(issued, 2);
    const left = await metric('gateway_credential_expires_seconds{provider="up"}');
    assert(left > 3_500 && left <= 3_600, String(left));
    const count = 'gateway_credential_refreshes_total{provider="up",result="success"}';
    assertEquals(await metric(count), 2);
    await Deno.writeTextFile(path, `${config()}retry: {enabled: false}\n`);
    await logged(/configuration reloaded/);
    assertEquals(await ask(), new Set(["200 token-2"]));
    assert(!/worker ended/.test(logSoFar()));
    // A worker that is started again has the token from its parent.
    killWorker(1);
    await logged(/worker listens worker=1/, 2);
    assertEquals(await ask(), new Set(["200 token-2"]));
    assertEquals(issued, 2);
    child.kill("SIGTERM");
    const [code, log] = await ended();
    assertEquals(code, 0);
    assert(!/token-\d|client-secret/.test(log));
  });
});
