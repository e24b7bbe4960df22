import { generateKeyPairSync, sign } from "node:crypto";
import { TRIAL_IDENTITIES } from "../../../src/simulator/clouds/clouds.ts";
import { newSimulator } from "../../../src/simulator/simulator.ts";
import { assertEquals } from "../../support/assert.ts";
import { scriptedWorld } from "../../support/world.ts";

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

/** The simulated clouds below their path, with one service account. */
function clouds() {
  const world = scriptedWorld();
  const pem = String(publicKey.export({ type: "spki", format: "pem" }));
  const simulator = newSimulator(world, new Map(), {
    ...TRIAL_IDENTITIES,
    serviceAccounts: new Map([["sa@p", pem]]),
  });
  const send = (path: string, init: RequestInit) =>
    simulator(new Request(`http://127.0.0.1:8081/clouds/${path}`, init));
  return {
    world,
    send,
    async token(path: string, form: Readonly<Record<string, string>>) {
      const response = await send(path, { method: "POST", body: new URLSearchParams(form) });
      const { access_token: token, error } = await response.json();
      return { status: response.status, token, error };
    },
    /** Status of a chat request with this bearer token. */
    async chat(host: string, token: string) {
      const response = await send(`${host}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({ model: "sim-echo", messages: [{ role: "user", content: "Hi" }] }),
      });
      await response.body?.cancel();
      return response.status;
    },
  };
}

const LOGIN = "login.microsoftonline.com/tenant/oauth2/v2.0/token";
const AZURE = "my-resource.openai.azure.com/openai/v1";
const VERTEX = "aiplatform.googleapis.com/v1/projects/p/locations/global/endpoints/openapi";
const GRANT = {
  grant_type: "client_credentials",
  client_id: "c",
  scope: "https://cognitiveservices.azure.com/.default",
};

Deno.test("a token of Entra is valid for five minutes, at the hosts of Azure alone", async () => {
  const { world, token, chat } = clouds();
  const refused = await token(LOGIN, { ...GRANT, client_secret: "another" });
  assertEquals([refused.status, refused.error], [401, "invalid_client"]);
  const { token: issued } = await token(LOGIN, { ...GRANT, client_secret: "simulated-secret" });
  assertEquals([await chat(AZURE, issued), await chat(VERTEX, issued)], [200, 401]);
  assertEquals(await chat(AZURE, `${issued}x`), 401);
  await world.advance(299_000);
  assertEquals(await chat(AZURE, issued), 200);
  await world.advance(1_000);
  assertEquals(await chat(AZURE, issued), 401);
});

Deno.test("Entra takes the token of a workload identity only in an assertion, and refuses another grant", async () => {
  const { token } = clouds();
  const type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
  const cases = [
    [{ client_assertion: "simulated-token", client_assertion_type: type }, 200],
    [{ client_assertion: "simulated-token" }, 401],
    [{ client_assertion: "another", client_assertion_type: type }, 401],
    [{ client_secret: "simulated-secret", scope: "openid" }, 400],
    [{ client_secret: "simulated-secret", grant_type: "password" }, 400],
  ] as const;
  for (const [form, status] of cases) {
    assertEquals((await token(LOGIN, { ...GRANT, ...form })).status, status, JSON.stringify(form));
  }
});

Deno.test("Google takes an assertion that a known service account has signed for it, within its time", async () => {
  const { world, token, chat } = clouds();
  const now = world.unix();
  const claims = {
    iss: "sa@p",
    scope: "s",
    aud: "https://oauth2.googleapis.com/token",
    iat: now,
    exp: now + 3_600,
  };
  const assertion = (changes: object, header: object = { alg: "RS256" }) => {
    const text = [header, { ...claims, ...changes }]
      .map((part) =>
        new TextEncoder().encode(JSON.stringify(part)).toBase64({
          alphabet: "base64url",
          omitPadding: true,
        })
      ).join(".");
    return `${text}.${
      sign("RSA-SHA256", new TextEncoder().encode(text), privateKey).toString("base64url")
    }`;
  };
  const ask = (written: string) =>
    token("oauth2.googleapis.com/token", {
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: written,
    });
  const { token: issued } = await ask(assertion({}));
  assertEquals([await chat(VERTEX, issued), await chat(AZURE, issued)], [200, 401]);
  const valid = assertion({});
  const [head, , signature] = valid.split(".");
  const [, body] = assertion({ iss: "sa@p", scope: "more" }).split(".");
  const wrong = [
    `${head}.${body}.${signature}`,
    assertion({ iss: "other@p" }),
    assertion({ aud: "https://evil.example/token" }),
    assertion({ exp: now }),
    assertion({ exp: now + 3_601 }),
    assertion({ iat: now + 61 }),
    assertion({ scope: undefined }),
    assertion({}, { alg: "none" }),
    "a.b.c",
    "",
  ];
  for (const one of wrong) {
    const { status, error } = await ask(one);
    assertEquals([status, error], [400, "invalid_grant"], one.slice(0, 60));
  }
});

Deno.test("metadata services answer only the headers that their clients send, and a cloud has no other paths", async () => {
  const { send } = clouds();
  const status = async (path: string, init: RequestInit) => {
    const response = await send(path, init);
    await response.body?.cancel();
    return response.status;
  };
  const machine = "169.254.169.254";
  const roles = `${machine}/latest/meta-data/iam/security-credentials/`;
  const session = await (await send(`${machine}/latest/api/token`, {
    method: "PUT",
    headers: { "x-aws-ec2-metadata-token-ttl-seconds": "60" },
  })).text();
  const aws = { "x-aws-ec2-metadata-token": session };
  const google = `${machine}/computeMetadata/v1/instance/service-accounts/default/token`;
  const azure = `${machine}/metadata/identity/oauth2/token?api-version=2018-02-01&resource=r`;
  const cases: readonly (readonly [string, RequestInit, number])[] = [
    [`${machine}/latest/api/token`, { method: "PUT" }, 400],
    [roles, {}, 401],
    [roles, { headers: aws }, 200],
    [`${roles}simulated-role`, { headers: aws }, 200],
    [`${roles}another`, { headers: aws }, 404],
    [google, { headers: { "metadata-flavor": "Google" } }, 200],
    [google, {}, 404],
    [azure, { headers: { metadata: "true" } }, 200],
    [azure, {}, 400],
    ["my-resource.openai.azure.com/elsewhere", {}, 404],
    ["unknown.example/openai/v1/models", {}, 404],
  ];
  for (const [path, init, expected] of cases) {
    assertEquals(await status(path, init), expected, path);
  }
});
