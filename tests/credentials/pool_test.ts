import { samplesNamed } from "../observe/exposition.ts";
import { assertEquals } from "../support/assert.ts";
import { answers, COMPLETION, verdictOf } from "../support/chat_call.ts";
import { poolConfig } from "../support/pool_gateway.ts";
import { credentialGateway, ENTRA, issue, type Sent } from "./credential_gateway.ts";

const HOUR_MS = 3_600_000;

const OTHER =
  'type: entra, tenant: t, client_id: d, client_secret: client-secret-2, authority: "https://login"';

/** A pool of a credential and a value. */
const MIXED = poolConfig(
  `{name: cloud, credential: {${ENTRA}, header: api-key, prefix: ""}}, {name: plain, value: sk-plain}`,
);

/** Returns the credential of each request, in the header that it has. */
function credentialsOf(sent: readonly Sent[]): readonly (string | null)[] {
  return sent.map(({ headers }) => headers.get("api-key") ?? headers.get("authorization"));
}

Deno.test("a pool shares the requests among values and credentials, each in its own header", async () => {
  const { ask, sent } = await credentialGateway(MIXED);
  for (let n = 0; n < 4; n++) assertEquals((await ask()).status, 200);
  assertEquals(credentialsOf(sent).toSorted(), [
    "Bearer sk-plain",
    "Bearer sk-plain",
    "token-1",
    "token-1",
  ]);
  assertEquals(sent.filter(({ headers }) => headers.has("api-key")).length, 2);
  assertEquals(sent.filter(({ headers }) => headers.has("authorization")).length, 2);
});

Deno.test("each credential of a pool is fetched for itself", async () => {
  const { ask, sent, issued } = await credentialGateway(
    poolConfig(`{name: a, credential: {${ENTRA}}}, {name: b, credential: {${OTHER}}}`),
  );
  for (let n = 0; n < 2; n++) await ask();
  assertEquals(issued(), 2);
  assertEquals(credentialsOf(sent).toSorted(), ["Bearer token-1", "Bearer token-2"]);
});

Deno.test("while a credential cannot be had, the other keys serve within the same attempt", async () => {
  let isOut = true;
  const { ask, sent, reports, world } = await credentialGateway(MIXED, {
    token: () => isOut ? answers(500, "out of order") : issue("token"),
  });
  for (let n = 0; n < 4; n++) assertEquals((await ask()).status, 200);
  assertEquals(new Set(credentialsOf(sent)), new Set(["Bearer sk-plain"]));
  assertEquals(
    new Set(reports.flatMap(({ attempts }) => attempts.map(({ number }) => number))),
    new Set([1]),
  );
  isOut = false;
  await world.advance(HOUR_MS / 30);
  for (let n = 0; n < 2; n++) await ask();
  assertEquals(credentialsOf(sent.slice(-2)).toSorted(), ["Bearer sk-plain", "token"]);
});

Deno.test("a pool of which no credential can be had is refused by name, and nothing is sent", async () => {
  const { ask, sent } = await credentialGateway(
    poolConfig(`{name: a, credential: {${ENTRA}}}, {name: b, credential: {${OTHER}}}`),
    { token: () => answers(400, { error: "invalid_client" }) },
  );
  assertEquals(verdictOf(await ask()), [503, "upstream_error", "credential_unavailable"]);
  assertEquals(sent.length, 0);
});

Deno.test("a refused credential is replaced once before another key of the pool is used", async () => {
  const { ask, sent } = await credentialGateway(
    poolConfig(`{name: cloud, credential: {${ENTRA}}}, {name: plain, value: sk-plain}`),
    {
      provider: ({ headers }) =>
        headers.get("authorization") === "Bearer sk-plain"
          ? answers(200, COMPLETION)
          : answers(401, { error: { message: "Invalid token.", type: "t", code: "c" } }),
    },
  );
  for (let n = 0; n < 4; n++) assertEquals((await ask()).status, 200);
  // From then on the refused key rests.
  assertEquals(credentialsOf(sent).filter((one) => one !== "Bearer sk-plain"), [
    "Bearer token-1",
    "Bearer token-2",
  ]);
});

Deno.test("the gauge of a provider shows the credential that ends first, and errors have no token", async () => {
  const config = poolConfig(
    `{name: a, credential: {${ENTRA}}}, {name: b, credential: {${OTHER}}}`,
  );
  const { ask, gateway } = await credentialGateway(config, {
    token: (count) => issue(`secret-token-${count}`, count * 3_600),
    provider: () =>
      answers(400, { error: { message: "secret-token-1 secret-token-2", type: "t", code: "c" } }),
  });
  const text = await gateway.metrics.scrape();
  assertEquals(Object.values(samplesNamed(text, "gateway_credential_expires_seconds")), [3_600]);
  assertEquals(JSON.stringify(await ask()).includes("secret-token"), false);
});

Deno.test("a model list is fetched with another key of the pool while a credential cannot be had", async () => {
  const keys =
    `{name: cloud, weight: 99, credential: {${ENTRA}}}, {name: plain, weight: 1, value: sk-plain}`;
  const { app, sent } = await credentialGateway(
    poolConfig(keys, { settings: "models: {mode: fetch}" }),
    {
      token: () => answers(500, "out of order"),
      provider: () => answers(200, { object: "list", data: [{ id: "m-1", object: "model" }] }),
    },
  );
  const request = new Request("http://localhost/v1/models", { headers: { host: "localhost" } });
  const { data } = await (await app(request)).json();
  assertEquals(data.map(({ id }: { readonly id: unknown }) => id), ["up/m-1"]);
  assertEquals(credentialsOf(sent), ["Bearer sk-plain"]);
});
