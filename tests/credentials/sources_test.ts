import { createVerify, generateKeyPairSync } from "node:crypto";
import { completeCredential } from "../../src/config/credential_rules.ts";
import type { CredentialConfig } from "../../src/config/schema.ts";
import { assert, assertEquals } from "../support/assert.ts";
import type { UpstreamScript } from "../support/upstream.ts";
import { type Asked, credentialOf, fetchFrom } from "./token_server.ts";

const HOUR_MS = 3_600_000;

const ENTRA = "type: entra, tenant: t-1, client_id: c-1, client_secret: s-1";

function issuing(more: Record<string, unknown> = {}): UpstreamScript {
  return (exchange) => exchange.json(200, { access_token: "at-1", expires_in: 3599, ...more });
}

function only(asked: readonly Asked[]): Asked {
  const [one, second] = asked;
  assert(one !== undefined && second === undefined);
  return one;
}

async function withFile<T>(text: string, use: (path: string) => Promise<T>): Promise<T> {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(path, text);
    return await use(path);
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("entra sends the client credentials grant to the authority of the tenant", async () => {
  const { fetched, asked, wallMs } = await fetchFrom(issuing(), credentialOf(ENTRA));
  const { method, url, headers, form } = only(asked);
  assertEquals([method, url, headers["content-type"]], [
    "POST",
    "https://login.microsoftonline.com/t-1/oauth2/v2.0/token",
    "application/x-www-form-urlencoded",
  ]);
  assertEquals(form, {
    client_id: "c-1",
    client_secret: "s-1",
    grant_type: "client_credentials",
    scope: "https://cognitiveservices.azure.com/.default",
  });
  const issued = {
    secret: { kind: "token", token: "at-1" } as const,
    expiresMs: wallMs + 3_599_000,
  };
  assertEquals(fetched, { ok: true, issued });
});

Deno.test("entra sends the token of a workload identity as it is in the file at each refresh", async () => {
  await withFile("assertion-1\n", async (path) => {
    const settings = credentialOf(
      `type: entra, tenant: t, client_id: c, token_file: "${path}", scope: "api://x/.default", authority: "https://login.microsoftonline.us/"`,
    );
    for (const assertion of ["assertion-1", "assertion-2"]) {
      await Deno.writeTextFile(path, `${assertion}\n`);
      const { asked } = await fetchFrom(issuing(), settings);
      assertEquals(asked.map(({ url, form }) => ({ url, form })), [{
        url: "https://login.microsoftonline.us/t/oauth2/v2.0/token",
        form: {
          client_id: "c",
          client_assertion: assertion,
          client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
          grant_type: "client_credentials",
          scope: "api://x/.default",
        },
      }]);
    }
  });
});

Deno.test("a managed identity asks the metadata service of the machine, which sends texts", async () => {
  const { fetched, asked } = await fetchFrom(
    issuing({ expires_in: "3599" }),
    credentialOf("type: entra, source: managed, client_id: c-9"),
  );
  assertEquals([asked[0]?.method, asked[0]?.url, asked[0]?.headers.metadata], [
    "GET",
    "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01" +
    "&resource=https%3A%2F%2Fcognitiveservices.azure.com&client_id=c-9",
    "true",
  ]);
  assert(fetched.ok);
});

const { publicKey, privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

function keyText(email = "sa@p.iam.gserviceaccount.com"): string {
  return JSON.stringify({
    type: "service_account",
    client_email: email,
    private_key_id: "k-1",
    private_key: privateKey,
    token_uri: "http://attacker.example/token",
  });
}

function keyCredential(path: string, text: string): CredentialConfig {
  const files = new Map([[path, { ok: true, text } as const]]);
  const outside = { files, proxy: null, directory: "/", wallMs: 0 };
  return completeCredential({ type: "google", key_file: path }, outside);
}

Deno.test("google sends an assertion that its key has signed, never to the address in the key", async () => {
  await withFile(keyText(), async (path) => {
    const { fetched, asked, wallMs } = await fetchFrom(issuing(), keyCredential(path, keyText()));
    assert(fetched.ok);
    const { method, url, form } = only(asked);
    assertEquals([method, url], ["POST", "https://oauth2.googleapis.com/token"]);
    assertEquals(form.grant_type, "urn:ietf:params:oauth:grant-type:jwt-bearer");
    const [header = "", claims = "", signature = ""] = (form.assertion ?? "").split(".");
    const parsed = (part: string) =>
      JSON.parse(
        new TextDecoder().decode(Uint8Array.fromBase64(part, { alphabet: "base64url" })),
      );
    assertEquals(parsed(header), { alg: "RS256", typ: "JWT", kid: "k-1" });
    const iat = Math.floor(wallMs / 1_000);
    assertEquals(parsed(claims), {
      iss: "sa@p.iam.gserviceaccount.com",
      scope: "https://www.googleapis.com/auth/cloud-platform",
      aud: "https://oauth2.googleapis.com/token",
      iat,
      exp: iat + 3_600,
    });
    const verify = createVerify("RSA-SHA256").update(`${header}.${claims}`);
    assert(verify.verify(publicKey, signature, "base64url"));
  });
});

Deno.test("a key file of another account is not used before a reload", async () => {
  await withFile(keyText("other@p.iam.gserviceaccount.com"), async (path) => {
    const { fetched, asked } = await fetchFrom(issuing(), keyCredential(path, keyText()));
    assertEquals([asked.length, fetched.ok || fetched.reason], [
      0,
      "the file has the key of another account; reload the configuration",
    ]);
  });
});

Deno.test("the request for the service account of a machine has the header of Google", async () => {
  const settings = credentialOf('type: google, source: metadata, scope: "s"');
  const { fetched, asked } = await fetchFrom(issuing(), settings);
  assertEquals([asked[0]?.method, asked[0]?.url, asked[0]?.headers["metadata-flavor"]], [
    "GET",
    "http://169.254.169.254/computeMetadata/v1/instance/service-accounts/default/token?scopes=s",
    "Google",
  ]);
  assert(fetched.ok);
});

const AWS = "type: aws, region: us-east-1, service: bedrock";

const SCRIPTED_S = 1_700_000_000;

function date(afterMs: number): string {
  return new Date(SCRIPTED_S * 1_000 + afterMs).toISOString().replace(/\.\d+/, "");
}

const ROLE_KEYS = { AccessKeyId: "ASIA1", SecretAccessKey: "sk-1", Token: "st-1" };

const ISSUED = {
  ok: true,
  issued: {
    secret: { kind: "aws", accessKeyId: "ASIA1", secretAccessKey: "sk-1", sessionToken: "st-1" },
    expiresMs: SCRIPTED_S * 1_000 + HOUR_MS,
  },
} as const;

Deno.test("aws assumes a role by the token of a workload identity, without a signature", async () => {
  await withFile("web-1\n", async (path) => {
    const { fetched, asked } = await fetchFrom(
      (exchange) =>
        exchange.answer(
          200,
          { "content-type": "text/xml" },
          `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
           <Credentials><AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>sk-1</SecretAccessKey>
           <SessionToken>st-1</SessionToken><Expiration>${date(HOUR_MS)}</Expiration></Credentials>
           </AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
        ),
      credentialOf(
        `${AWS}, source: web_identity, role_arn: "arn:aws:iam::1:role/r", token_file: "${path}"`,
      ),
    );
    const { method, url, headers, form } = only(asked);
    assertEquals([method, url, headers.authorization], [
      "POST",
      "https://sts.us-east-1.amazonaws.com/",
      undefined,
    ]);
    assertEquals(form, {
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleSessionName: "switchyard",
      RoleArn: "arn:aws:iam::1:role/r",
      WebIdentityToken: "web-1",
    });
    assertEquals(fetched, ISSUED);
  });
});

Deno.test("aws asks the metadata service for a session, the role and its keys", async () => {
  const { fetched, asked } = await fetchFrom((exchange) => {
    const { path } = exchange.request;
    const text = path === "/latest/api/token"
      ? "session-1"
      : path.endsWith("/role-1")
      ? JSON.stringify({ Code: "Success", ...ROLE_KEYS, Expiration: date(HOUR_MS) })
      : "role-1";
    return exchange.answer(200, {}, text);
  }, credentialOf(`${AWS}, source: imds`));
  assertEquals(fetched, ISSUED);
  const roles = "http://169.254.169.254/latest/meta-data/iam/security-credentials/";
  assertEquals(asked.map(({ method, url }) => `${method} ${url}`), [
    "PUT http://169.254.169.254/latest/api/token",
    `GET ${roles}`,
    `GET ${roles}role-1`,
  ]);
  const name = "x-aws-ec2-metadata-token";
  assertEquals(asked.map(({ headers }) => headers[`${name}-ttl-seconds`] ?? headers[name]), [
    "21600",
    "session-1",
    "session-1",
  ]);
});

Deno.test("aws sends a request to the agent of a task or a pod, and to no other host without TLS", async () => {
  const settings = credentialOf(`${AWS}, source: container`);
  const answer: UpstreamScript = (exchange) =>
    exchange.json(200, { ...ROLE_KEYS, Expiration: date(HOUR_MS) });
  const relative = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
  const full = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
  const task = await fetchFrom(answer, settings, { variables: { [relative]: "/v2/x" } });
  assertEquals([task.asked[0]?.url, task.fetched], ["http://169.254.170.2/v2/x", ISSUED]);
  await withFile("pod-token\n", async (path) => {
    const variables = {
      [full]: "http://169.254.170.23/v1/credentials",
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: path,
    };
    const pod = await fetchFrom(answer, settings, { variables });
    assertEquals([pod.asked[0]?.headers.authorization, pod.fetched], ["pod-token", ISSUED]);
  });
  for (const url of ["http://attacker.example/", "ftp://169.254.170.2/", "nothing"]) {
    const refused = await fetchFrom(answer, settings, { variables: { [full]: url } });
    assertEquals([refused.asked.length, refused.fetched.ok], [0, false]);
  }
});

Deno.test("configured keys of aws cause no request and have no end", async () => {
  const settings = credentialOf(`${AWS}, access_key_id: AKIA1, secret_access_key: sk-1`);
  const { fetched, asked } = await fetchFrom(issuing(), settings);
  const secret = {
    kind: "aws",
    accessKeyId: "AKIA1",
    secretAccessKey: "sk-1",
    sessionToken: null,
  } as const;
  assertEquals([asked.length, fetched], [0, { ok: true, issued: { secret, expiresMs: null } }]);
});

const HOSTILE: readonly (readonly [name: string, script: UpstreamScript, reason: string])[] = [
  [
    "HTML",
    (exchange) => exchange.answer(200, {}, "<html>"),
    "sent a response that is no JSON object",
  ],
  ["too much", (exchange) => exchange.answer(200, {}, "x".repeat(64 * 1024 + 1)), "too large"],
  ["no end of it", async (exchange) => {
    await exchange.head(200);
    while (await exchange.chunk("x".repeat(10_000)));
  }, "too large"],
  [
    "a redirect",
    (exchange) => exchange.answer(302, { location: "http://attacker.example/" }, ""),
    "responded with a redirect",
  ],
  [
    "an error",
    (exchange) => exchange.json(401, { error: "invalid_client" }),
    "401 (invalid_client)",
  ],
  [
    "an error that repeats the secret",
    (exchange) => exchange.json(400, { error: "s-1 is bad" }),
    "400",
  ],
  [
    "an error that is a word of the request, as a secret may be",
    (exchange) => exchange.json(400, { error: "client_credentials" }),
    "400",
  ],
  ["a closed connection", (exchange) => exchange.halfClose(), "could not be reached"],
  ["no token", issuing({ access_token: undefined }), "the token is missing"],
  ["a token of two lines", issuing({ access_token: "a\r\nx: y" }), "the token is missing"],
  ["a huge token", issuing({ access_token: "x".repeat(20_000) }), "the token is missing"],
  ["no end", issuing({ expires_in: undefined }), "the time of its end is missing"],
  ["an end that is a list", issuing({ expires_in: [3_600] }), "the time of its end is missing"],
  ["an end in the past", issuing({ expires_in: -60 }), "it has ended already"],
  ["an end at once", issuing({ expires_in: 0 }), "it has ended already"],
];

for (const [name, script, reason] of HOSTILE) {
  Deno.test(`a token endpoint that sends ${name} issues nothing, and the reason has no secret`, async () => {
    const { fetched, asked } = await fetchFrom(script, credentialOf(ENTRA));
    assert(!fetched.ok);
    assert(fetched.reason.includes(reason), fetched.reason);
    assert(!/s-1|at-1|client_credentials|attacker/.test(fetched.reason), fetched.reason);
    assertEquals(asked.length, 1);
  });
}

for (const headFirst of [false, true]) {
  Deno.test(`a token endpoint that hangs ${headFirst ? "within its body" : "at once"} is left after 10 s`, async () => {
    const { fetched } = await fetchFrom(
      async (exchange) => {
        if (headFirst) await exchange.head(200);
        await exchange.closedByPeer;
      },
      credentialOf(ENTRA),
      { advanceMs: 10_000 },
    );
    assertEquals(fetched, {
      ok: false,
      reason: "login.microsoftonline.com did not respond in time",
    });
  });
}

Deno.test("a token endpoint that names an end in years is believed for a day", async () => {
  const { fetched, wallMs } = await fetchFrom(issuing({ expires_in: 1e9 }), credentialOf(ENTRA));
  assertEquals(fetched.ok && fetched.issued.expiresMs, wallMs + 24 * HOUR_MS);
});

Deno.test("temporary keys without an end or a session token are refused", async () => {
  const variables = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/x" };
  const all = { ...ROLE_KEYS, Expiration: date(HOUR_MS) };
  const cases = [{ Expiration: undefined }, { Token: undefined }, { Expiration: date(-HOUR_MS) }];
  for (const change of cases) {
    const settings = credentialOf(`${AWS}, source: container`);
    const { fetched } = await fetchFrom(
      (exchange) => exchange.json(200, { ...all, ...change }),
      settings,
      { variables },
    );
    assertEquals(fetched.ok, false, JSON.stringify(change));
  }
});
