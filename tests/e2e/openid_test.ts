import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { configFile, whileServing } from "../cli/test_terminal.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { startOpenIdProvider } from "../support/openid_provider.ts";
import { twoWorkers, withWorkers } from "./running_workers.ts";

function security(issuer: string, keysUrl = `${issuer}/jwks`): string {
  return `
security:
  enabled: true
  provider: jwt
  jwt:
    issuers:
      - name: local
        issuer: ${issuer}
        jwks_url: ${keysUrl}
        audience: [switchyard]
        algorithms: [ES256]
        rules: [{claim: groups, values: ["ai-*"], template: developer}]
  templates: [{name: developer, models: ["*sim*"]}]
`;
}

Deno.test("official clients send tokens of an OpenID provider, each by its own means", async () => {
  await using openId = await startOpenIdProvider();
  await whileServing(["simulate", "--port", "0"], async (simulated) => {
    const [, upstream = ""] = await simulated.printed(/compat +(http\S+)\n/);
    using file = await configFile(`
server: {port: 0}
${security(openId.issuer)}
providers: {sim: {type: compat, base_url: "${upstream}"}}
routing: {routes: [{name: all, targets: [{provider: sim}]}]}
`);
    await whileServing(["--config", file.path], async (terminal) => {
      const [, url = ""] = await terminal.printed(/listens on (\S+)/);
      let tokens = 0;
      const apiKey = () => {
        tokens += 1;
        return openId.token();
      };
      const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
      const message = { role: "user", content: "Hi" } as const;
      const chat = { model: "sim-echo", messages: [message] };
      const completion = await openai.chat.completions.create(chat);
      assert(completion.choices[0]?.message.content);
      const stream = await openai.chat.completions.create({ ...chat, stream: true });
      let text = "";
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
      assert(text);
      assertEquals(tokens, 2);
      const authToken = await openId.token();
      const anthropic = new Anthropic({ baseURL: url, authToken, apiKey: null, maxRetries: 0 });
      const answer = await anthropic.messages.create({ ...chat, max_tokens: 99 });
      assertEquals(answer.content[0]?.type, "text");
      const wrong = new OpenAI({ baseURL: `${url}/v1`, apiKey: `${authToken}x`, maxRetries: 0 });
      const refused = await wrong.chat.completions.create(chat).catch((error: unknown) => error);
      assert(refused instanceof OpenAI.AuthenticationError, String(refused));
      assert(!terminal.written.err.includes(authToken));
    });
  });
});

Deno.test("a provider that rotates its key between requests costs a client one repeat, and a key that it retires is refused", async () => {
  await using openId = await startOpenIdProvider();
  await whileServing(["simulate", "--port", "0"], async (simulated) => {
    const [, upstream = ""] = await simulated.printed(/compat +(http\S+)\n/);
    const config = `
server: {port: 0}
${security(openId.issuer)}
providers: {sim: {type: compat, base_url: "${upstream}"}}
routing: {routes: [{name: all, targets: [{provider: sim}]}]}
`;
    using file = await configFile(config);
    await whileServing(["--config", file.path], async (terminal) => {
      const [, url = ""] = await terminal.printed(/listens on (\S+)/);
      const send = async (token: string) => {
        const headers = { authorization: `Bearer ${token}` };
        const response = await fetch(`${url}/v1/models`, { headers });
        await response.body?.cancel();
        return response.status;
      };
      const old = await openId.token();
      assertEquals(await send(old), 200);
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: old, maxRetries: 0 });
      const stream = await client.chat.completions.create({
        model: "sim-echo",
        messages: [{ role: "user", content: "a stream that a rotation does not end" }],
        stream: true,
      });
      await openId.rotate();
      const next = await openId.token();
      const statuses: number[] = [];
      const counted = async (input: string | URL | Request, init?: object) => {
        const response = await fetch(input, init);
        statuses.push(response.status);
        return response;
      };
      const repeating = new OpenAI({ baseURL: `${url}/v1`, apiKey: next, fetch: counted });
      await repeating.models.list();
      assertEquals(statuses, [503, 200]);
      let text = "";
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
      assert(text.includes("a rotation does not end"));
      assertEquals(await send(old), 200);
      openId.retire();
      // The reload of a changed file fetches the keys again.
      await Deno.writeTextFile(file.path, `${config}retry: {enabled: false}\n`);
      terminal.reload();
      while (await send(old) === 200);
      assertEquals([await send(next), await send(old) === 200], [200, false]);
    });
  });
});

Deno.test("with a key address that never answers, the gateway starts after 5 s and serves static keys", async () => {
  const hanging = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) =>
      new Promise((resolve) => {
        request.signal.onabort = () => resolve(new Response());
      }),
  );
  const keysUrl = `http://127.0.0.1:${hanging.addr.port}/keys`;
  using file = await configFile(`
server: {port: 0}
${security("https://issuer.example", keysUrl)}
  api_key: {keys: [{name: nightly, value: key-of-nightly}]}
providers: {up: {type: compat, base_url: "http://127.0.0.1:1"}}
routing: {routes: [{name: all, targets: [{provider: up}]}]}
`);
  await whileServing(["--config", file.path], async (terminal) => {
    const [, url = ""] = await terminal.printed(/listens on (\S+)/);
    const call = async (key: string) => {
      const response = await fetch(`${url}/v1/models`, { headers: { "x-api-key": key } });
      await response.body?.cancel();
      return response.status;
    };
    assertEquals(await call("key-of-nightly"), 200);
    assertEquals(await call("key-of-nobody"), 401);
  });
  await hanging.shutdown();
});

Deno.test({
  name: "workers verify tokens with keys that their parent fetches once for all",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using openId = await startOpenIdProvider();
    let fetches = 0;
    const keys = await (await fetch(`${openId.issuer}/jwks`)).text();
    const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => {
      fetches += 1;
      return new Response(keys);
    });
    const keysUrl = `http://127.0.0.1:${server.addr.port}/keys`;
    const config = twoWorkers("", `state: {store: none}\n${security(openId.issuer, keysUrl)}`);
    await withWorkers(config, async ({ send, metric }) => {
      const headers = { authorization: `Bearer ${await openId.token()}` };
      for (let at = 0; at < 20; at++) {
        assertEquals((await send("/v1/models", { headers })).status, 200);
      }
      const sum = async (result: string) =>
        await metric(`gateway_tokens_verified_total{issuer="local",result="${result}"}`);
      assertEquals(await sum("valid") + await sum("cached"), 20);
      assertEquals(await metric('gateway_issuer_keys{issuer="local"}'), 1);
      assertEquals(
        await metric('gateway_issuer_refreshes_total{issuer="local",result="success"}'),
        1,
      );
    });
    assertEquals(fetches, 1);
    await server.shutdown();
  },
});
