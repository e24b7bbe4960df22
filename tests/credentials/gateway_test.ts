import { samplesNamed } from "../observe/exposition.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, COMPLETION, got, verdictOf } from "../support/chat_call.ts";
import {
  credentialConfig,
  type CredentialGateway,
  credentialGateway,
  ENTRA,
  issue,
  type Sent,
} from "./credential_gateway.ts";

const MINUTE_MS = 60_000;

function authorizations(sent: readonly Sent[]): readonly (string | null)[] {
  return sent.map(({ headers }) => headers.get("authorization"));
}

Deno.test("a request carries the current token, in the header and with the word of the file", async () => {
  const plain = await credentialGateway(credentialConfig(ENTRA));
  assertEquals((await plain.ask()).status, 200);
  assertEquals(authorizations(plain.sent), ["Bearer token-1"]);
  const named = await credentialGateway(
    credentialConfig(`${ENTRA}, header: API-Key, prefix: ""`, {
      settings: ", headers: {Api-Key: static}",
    }),
  );
  await named.ask();
  assertEquals(named.sent[0]?.headers.get("api-key"), "token-1");
  assertEquals(authorizations(named.sent), [null]);
});

Deno.test("while the token endpoint hangs no request waits, as long as the token is valid", async () => {
  const { world, ask, sent, issued } = await credentialGateway(credentialConfig(ENTRA), {
    token: (count) => count === 1 ? issue("token-1") : new Promise(() => {}),
  });
  await world.advance(48 * MINUTE_MS);
  const before = world.now();
  for (let n = 0; n < 10; n++) assertEquals((await ask()).status, 200);
  assertEquals([world.now() - before, issued()], [0, 2]);
  assertEquals(new Set(authorizations(sent)), new Set(["Bearer token-1"]));
});

Deno.test("200 requests around the replacement make one refresh, and none of them fails", async () => {
  const { world, ask, issued } = await credentialGateway(credentialConfig(ENTRA));
  await world.advance(48 * MINUTE_MS - 1);
  const first = Array.from({ length: 100 }, () => ask());
  const [, ...answered] = await Promise.all([
    world.advance(1),
    ...first,
    ...Array.from({ length: 100 }, () => ask()),
  ]);
  assertEquals(new Set(answered.map(({ status }) => status)), new Set([200]));
  assertEquals(issued(), 2);
});

Deno.test("a request without a usable credential is refused by name, and nothing is sent", async () => {
  const { world, ask, sent, reports } = await credentialGateway(credentialConfig(ENTRA), {
    token: (count) => count === 1 ? issue("token-1") : answers(500, "out of order"),
  });
  await world.advance(60 * MINUTE_MS - 11_000);
  assertEquals((await ask()).status, 200);
  await world.advance(1_000);
  const refused = await ask();
  assertEquals(verdictOf(refused), [503, "upstream_error", "credential_unavailable"]);
  const retryAfter = Number(refused.headers.get("retry-after"));
  assert(retryAfter >= 1 && retryAfter <= 72, String(retryAfter));
  assertEquals(sent.length, 1);
  assertEquals(reports.at(-1)?.attempts.map(({ outcome, key }) => [outcome, key]), [
    ["credential_unavailable", null],
  ]);
});

Deno.test("while the refresh of a credential that has ended runs, a client may try again in a second", async () => {
  const { world, ask } = await credentialGateway(credentialConfig(ENTRA), {
    token: (count) => count === 1 ? issue("token-1", 22) : new Promise(() => {}),
  });
  await world.advance(13_000);
  const refused = await ask();
  assertEquals([refused.error.code, refused.headers.get("retry-after")], [
    "credential_unavailable",
    "1",
  ]);
});

Deno.test("without a credential the fallback answers, and the circuit breaker stays closed", async () => {
  const config = credentialConfig(ENTRA, {
    fallback: "{provider: spare}",
    more: "circuit_breaker: {enabled: true, failure_threshold: 1}",
  });
  const { ask, sent, gateway, reload, world } = await credentialGateway(config, {
    token: (count) => count < 6 ? answers(400, { error: "invalid_client" }) : issue("late"),
  });
  for (let n = 0; n < 5; n++) assertEquals((await ask()).status, 200);
  assertEquals(sent.map(({ host }) => host), ["spare", "spare", "spare", "spare", "spare"]);
  const breakers = samplesNamed(await gateway.metrics.scrape(), "gateway_circuit_breaker_state");
  assertEquals(Object.values(breakers), [0, 0]);
  await world.advance(5 * MINUTE_MS);
  reload(config);
  await ask();
  assertEquals(sent.at(-1)?.host, "up");
});

Deno.test("the first requests after a start wait for the first token, at most 5 s, and later get Retry-After", async () => {
  const held = Promise.withResolvers<void>();
  const late = await credentialGateway(credentialConfig(ENTRA), {
    async token(count) {
      await held.promise;
      return await issue(`token-${count}`);
    },
  });
  const waiting = [late.ask(), late.ask()];
  await late.world.advance(4_000);
  assertEquals(late.sent.length, 0);
  held.resolve();
  assertEquals((await Promise.all(waiting)).map(({ status }) => status), [200, 200]);
  const never = await credentialGateway(credentialConfig(ENTRA), {
    token: () => new Promise(() => {}),
  });
  const refused = never.ask();
  await never.world.advance(5_000);
  const { error, headers } = await refused;
  // The refresh still runs, so it has no next time.
  assertEquals([error.code, headers.get("retry-after")], ["credential_unavailable", "1"]);
});

Deno.test("/ready is 503 until the first token has come, at most 5 s, unless another provider can serve", async () => {
  const alone = credentialConfig(ENTRA).replace(/ {2}spare: .*\n/, "");
  const ready = async ({ app }: CredentialGateway) => {
    const request = new Request("http://localhost/ready", { headers: { host: "localhost" } });
    const { status, text } = await got(await app(request));
    return `${status} ${JSON.parse(text).status}`;
  };
  const hangs = await credentialGateway(alone, { token: () => new Promise(() => {}) });
  assertEquals(await ready(hangs), "503 starting");
  await hangs.world.advance(4_999);
  assertEquals(await ready(hangs), "503 starting");
  await hangs.world.advance(1);
  assertEquals(await ready(hangs), "200 ready");
  const { promise, resolve } = Promise.withResolvers<Response>();
  const slow = await credentialGateway(alone, { token: () => promise });
  assertEquals(await ready(slow), "503 starting");
  resolve(await issue("token-1"));
  await slow.world.advance(1);
  assertEquals(await ready(slow), "200 ready");
  const refused = await credentialGateway(alone, { token: () => answers(400, "") });
  assertEquals(await ready(refused), "200 ready");
  const other = await credentialGateway(credentialConfig(ENTRA), {
    token: () => new Promise(() => {}),
  });
  assertEquals(await ready(other), "200 ready");
});

Deno.test("a token that the provider refuses is replaced, and the request is sent once more", async () => {
  const { ask, sent, issued, world, reports } = await credentialGateway(credentialConfig(ENTRA), {
    provider: ({ headers }) =>
      headers.get("authorization") === "Bearer token-1"
        ? answers(401, { error: { message: "Token is revoked." } })
        : answers(200, COMPLETION),
  });
  assertEquals((await Promise.all([ask(), ask()])).map(({ status }) => status), [200, 200]);
  assertEquals([authorizations(sent).at(-1), issued()], ["Bearer token-2", 2]);
  assertEquals(world.now(), 0);
  assertEquals(reports[0]?.attempts.map(({ outcome, isRotated }) => [outcome, isRotated]), [
    ["upstream_rejected", false],
    ["success", true],
  ]);
});

Deno.test("a provider that refuses every token causes one refresh in 30 s, and its answer is passed on", async () => {
  const { ask, sent, issued, world } = await credentialGateway(credentialConfig(ENTRA), {
    provider: () => answers(401, { error: { message: "Not you." } }),
  });
  for (let n = 0; n < 5; n++) assertEquals((await ask()).status, 401);
  assertEquals([sent.length, issued()], [6, 2]);
  await world.advance(30_000);
  await ask();
  assertEquals(issued(), 3);
  const forbidden = await credentialGateway(credentialConfig(ENTRA), {
    provider: () => answers(403, { error: { message: "No role." } }),
  });
  assertEquals([(await forbidden.ask()).status, forbidden.issued()], [403, 1]);
});

Deno.test("the account stays the same over 100 refreshes, and so do its circuit and its bindings", async () => {
  const { world, gateway, issued } = await credentialGateway(credentialConfig(ENTRA), {
    token: (count) => issue(`token-${count}`, 120),
  });
  const account = () => gateway.generation.providers.get("up")?.accounts[0];
  const before = account();
  await world.advance(100 * MINUTE_MS);
  assertEquals(issued(), 101);
  assert(account() === before);
});

Deno.test("a new client secret is the same account, another application is another one", async () => {
  const { gateway, reload } = await credentialGateway(credentialConfig(ENTRA));
  const digest = () => gateway.generation.providers.get("up")?.accounts[0].digest;
  const first = digest();
  reload(credentialConfig(ENTRA.replace("client-secret-1", "client-secret-2")));
  assertEquals(digest(), first);
  reload(credentialConfig(ENTRA.replace("client_id: c", "client_id: d")));
  assert(digest() !== first);
});

Deno.test("a reload with an equal credential keeps its token, another credential is fetched", async () => {
  const { reload, ask, issued, world, sent } = await credentialGateway(credentialConfig(ENTRA));
  reload(credentialConfig(ENTRA, { settings: ", timeout: 7s" }));
  await ask();
  assertEquals([issued(), authorizations(sent)], [1, ["Bearer token-1"]]);
  reload(credentialConfig(ENTRA.replace("tenant: t", "tenant: u")));
  await ask();
  assertEquals([issued(), authorizations(sent).at(-1)], [2, "Bearer token-2"]);
  reload(credentialConfig("type: google, source: metadata"));
  await world.advance(2 * 60 * MINUTE_MS);
  assertEquals(issued(), 2, "a credential that is not configured any more is not refreshed");
});

Deno.test("two providers with one credential share its token", async () => {
  const config = credentialConfig(ENTRA).replace("api_key: spare-key", `credential: {${ENTRA}}`);
  const { issued, gateway } = await credentialGateway(config);
  assertEquals(issued(), 1);
  const left = samplesNamed(await gateway.metrics.scrape(), "gateway_credential_expires_seconds");
  assertEquals(left, { '{provider="up"}': 3_600, '{provider="spare"}': 3_600 });
});

Deno.test("no token, old or new, and no secret is in errors, headers, logs or metrics", async () => {
  const { ask, world, gateway, log, lines } = await credentialGateway(credentialConfig(ENTRA), {
    token: (count) =>
      count < 3 ? issue(`token-${count}`) : answers(400, {
        error: "client-secret-1",
        error_description: "client-secret-1 and token-2",
      }),
    provider: () =>
      answers(500, { error: { message: "Bad token-1, token-2 of client-secret-1." } }, {
        "x-request-id": "of token-1",
        "retry-after": "token-2",
      }),
  });
  await world.advance(50 * MINUTE_MS);
  const { text, headers } = await ask();
  await world.advance(120 * MINUTE_MS);
  const refused = await ask();
  const seen = [
    text,
    JSON.stringify([...headers]),
    refused.text,
    ...log,
    ...lines,
    await gateway.metrics.scrape(),
  ].join("\n");
  assert(!/token-[12]|client-secret/.test(seen), seen);
});

Deno.test("a refresh that fails is one warning, and one line when it succeeds again", async () => {
  const { world, lines, gateway } = await credentialGateway(credentialConfig(ENTRA), {
    token: (count) =>
      count > 1 && count < 6 ? answers(400, { error: "invalid_client" }) : issue(`token-${count}`),
  });
  await world.advance(60 * MINUTE_MS);
  assertEquals(
    lines.map((line) => {
      const { level, msg, providers, type, reason } = JSON.parse(line);
      return [level, msg, providers, type, reason];
    }),
    [
      [
        "warn",
        "a credential could not be refreshed",
        "up",
        "entra",
        "login responded with status 400 (invalid_client)",
      ],
      ["info", "a credential is refreshed again", "up", "entra", undefined],
    ],
  );
  const counts = samplesNamed(await gateway.metrics.scrape(), "gateway_credential_refreshes_total");
  assertEquals(counts, {
    '{provider="up",result="success"}': 2,
    '{provider="up",result="failure"}': 4,
  });
});

Deno.test("the last good token of a file is used while the file is empty, and one warning is logged", async () => {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(path, "first-token");
    const { ask, sent, lines, world, credentials, gateway } = await credentialGateway(
      credentialConfig(`type: file, path: "${path}"`),
    );
    // The file is read outside the scripted world, so a look is awaited by its own promise.
    const look = async (text: string) => {
      // A look that still reads must not see a file that is cleared and not yet written.
      await Deno.writeTextFile(`${path}.new`, text);
      await Deno.rename(`${path}.new`, path);
      await world.advance(30_000);
      for (const id of gateway.generation.credentials.keys()) await credentials.renew(id);
      await ask();
      return sent.at(-1)?.headers.get("authorization");
    };
    assertEquals(await look("first-token"), "Bearer first-token");
    assertEquals(await look(""), "Bearer first-token");
    assertEquals(await look(""), "Bearer first-token");
    assertEquals(await look("second-token"), "Bearer second-token");
    assertEquals(lines.map((line) => JSON.parse(line).level), ["warn", "info"]);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("the model list of a provider is fetched with its credential", async () => {
  const { app, sent } = await credentialGateway(
    credentialConfig(ENTRA, { settings: ", models: {mode: fetch}" }),
    { provider: () => answers(200, { object: "list", data: [{ id: "m-1", object: "model" }] }) },
  );
  await app(new Request("http://localhost/v1/models", { headers: { host: "localhost" } }));
  assertEquals(authorizations(sent), ["Bearer token-1"]);
});

const LISTED = credentialConfig(ENTRA, { settings: ", models: {mode: fetch}" });

/** The models that a gateway lists. */
async function listed({ app }: Pick<CredentialGateway, "app">): Promise<readonly unknown[]> {
  const request = new Request("http://localhost/v1/models", { headers: { host: "localhost" } });
  const { data } = await (await app(request)).json();
  return data.map(({ id }: { readonly id: unknown }) => id);
}

/** A model list with one model, for requests with this token. */
function listFor(token: string, { headers }: Sent): Promise<Response> {
  return headers.get("authorization") === `Bearer ${token}`
    ? answers(200, { object: "list", data: [{ id: "m-1", object: "model" }] })
    : answers(401, { error: { message: "Invalid token.", type: "t", code: "c" } });
}

Deno.test("a model list waits for the first token, and is fetched again with another one if that is refused", async () => {
  const first = Promise.withResolvers<void>();
  const gateway = await credentialGateway(LISTED, {
    token: async (count) => {
      await first.promise;
      return await issue(`token-${count}`);
    },
    provider: (sent) => listFor("token-2", sent),
  });
  const models = listed(gateway);
  await gateway.world.advance(0);
  assertEquals(gateway.sent.length, 0);
  first.resolve();
  assertEquals(await models, ["up/m-1"]);
  assertEquals(authorizations(gateway.sent), ["Bearer token-1", "Bearer token-2"]);
});
