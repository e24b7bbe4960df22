import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { got } from "../../support/chat_call.ts";
import {
  ISSUER,
  KEYS_URL,
  newSigningKey,
  NOW_S,
  sameKeyFor,
  tokenGateway,
  tokenSecurity,
} from "../../support/token_issuer.ts";

const KEY = await newSigningKey("k1");
const OTHER = await newSigningKey("k2");
const RSA_KEY = await newSigningKey("k3", "RS256");
const INVALID = [401, "invalid_api_key"];

/** Values of a counter of tokens, such as `corp valid 1`. */
async function tokenCounts(scrape: Promise<string>): Promise<string[]> {
  const lines = (await scrape).split("\n");
  return lines.filter((line) => line.startsWith("gateway_tokens_verified_total{"))
    .map((line) => line.replace(/.*issuer="(.*)",result="(.*)"} (.*)/, "$1 $2 $3"));
}

Deno.test("a valid token is a client named by its issuer and subject, with the template of the first rule that fits", async () => {
  const { verdict, reports, log, gateway } = await tokenGateway(tokenSecurity(), [KEY]);
  assertEquals(await verdict(await KEY.sign()), [200, null]);
  assertEquals(await verdict(await KEY.sign({ sub: "eve", groups: "ai-admins" })), [200, null]);
  assertEquals(reports.map(({ client, template, issuer }) => [client, template, issuer]), [
    ["corp/ada", "developer", "corp"],
    ["corp/eve", "admin", "corp"],
  ]);
  assertStringIncludes(log.join(), '"client":"corp/ada","issuer":"corp","template":"developer"');
  assertEquals(await tokenCounts(gateway.metrics.scrape()), ["corp valid 2"]);
});

Deno.test("the second request with a token verifies nothing, and after its end it has expired", async () => {
  const { verdict, world, gateway, call } = await tokenGateway(tokenSecurity(), [KEY]);
  const token = await KEY.sign({ exp: NOW_S + 100 });
  assertEquals(await verdict(token), [200, null]);
  await world.advance(159_000);
  assertEquals(await verdict(token), [200, null]);
  await world.advance(1_000);
  const expired = await got(await call(token));
  assertEquals([expired.status, expired.error.code], [401, "token_expired"]);
  assertStringIncludes(String(expired.error.message), "2023-11-14T22:15:00Z");
  assertEquals(
    expired.headers.get("www-authenticate"),
    'Bearer realm="gateway", error="invalid_token", error_description="expired"',
  );
  assertEquals(await tokenCounts(gateway.metrics.scrape()), [
    "corp valid 1",
    "corp cached 1",
    "corp expired 1",
  ]);
});

Deno.test("concurrent requests with one token share one verification", async () => {
  const { verdict, gateway } = await tokenGateway(tokenSecurity(), [KEY]);
  const token = await KEY.sign();
  const verify = crypto.subtle.verify;
  let verifications = 0;
  crypto.subtle.verify = function (...args: Parameters<typeof verify>) {
    verifications += 1;
    return verify.apply(crypto.subtle, args);
  } as typeof verify;
  try {
    const all = await Promise.all(Array.from({ length: 100 }, () => verdict(token)));
    assert(all.every(([status]) => status === 200));
    assertEquals(verifications, 1);
    assertEquals(gateway.generation.tokens?.size, { verified: 1, refused: 0 });
  } finally {
    crypto.subtle.verify = verify;
  }
});

Deno.test("times are judged with a skew of 60 s, and one second beyond it a token is refused", async () => {
  const { verdict } = await tokenGateway(tokenSecurity(), [KEY]);
  const cases = [
    [{ exp: NOW_S - 59 }, [200, null]],
    [{ exp: NOW_S - 60 }, [401, "token_expired"]],
    [{ nbf: NOW_S + 60 }, [200, null]],
    [{ nbf: NOW_S + 61 }, INVALID],
    [{ iat: NOW_S + 60 }, [200, null]],
    [{ iat: NOW_S + 61 }, INVALID],
    [{ iat: 1e300 }, INVALID],
    [{ nbf: 1e300 }, INVALID],
    [{ exp: -1e300 }, [401, "token_expired"]],
  ] as const;
  for (const [claims, expected] of cases) {
    assertEquals<unknown>(await verdict(await KEY.sign(claims)), expected, JSON.stringify(claims));
  }
});

Deno.test("a token of a clock that differs becomes valid when its time has come", async () => {
  const { verdict, world } = await tokenGateway(tokenSecurity(), [KEY]);
  const token = await KEY.sign({ nbf: NOW_S + 61 });
  assertEquals<unknown>(await verdict(token), INVALID);
  await world.advance(1_000);
  assertEquals(await verdict(token), [200, null]);
});

Deno.test("a token that was refused while the clock was wrong is accepted within a minute after it is right", async () => {
  const { verdict, world } = await tokenGateway(tokenSecurity(), [KEY]);
  const token = await KEY.sign();
  world.setWall((NOW_S + 86_400) * 1_000);
  assertEquals<unknown>(await verdict(token), [401, "token_expired"]);
  world.setWall(NOW_S * 1_000);
  await world.advance(60_000);
  assertEquals(await verdict(token), [200, null]);
});

Deno.test("issuer and audience are compared byte for byte, and required claims must be there", async () => {
  const { verdict } = await tokenGateway(tokenSecurity(), [KEY]);
  const refused = [
    { iss: `${ISSUER}/` },
    { iss: ISSUER.toUpperCase() },
    { iss: undefined },
    { aud: "other" },
    { aud: ["other", "Switchyard"] },
    { aud: undefined },
    { exp: undefined },
    { exp: "2000000000" },
    { sub: undefined },
    { sub: "" },
    { sub: 7 },
    { sub: "a\nb" },
    { sub: "x".repeat(257) },
  ];
  for (const claims of refused) {
    const token = await KEY.sign(claims as Record<string, unknown>);
    assertEquals<unknown>(await verdict(token), INVALID, JSON.stringify(claims));
    assertEquals<unknown>(await verdict(token), INVALID, `${JSON.stringify(claims)}, again`);
  }
  assertEquals(await verdict(await KEY.sign({ aud: ["other", "switchyard"] })), [200, null]);
});

Deno.test("a valid token that no rule fits is forbidden, and is no failed authentication", async () => {
  const { verdict, gateway } = await tokenGateway(tokenSecurity(), [KEY]);
  for (const groups of [undefined, "staff", [], ["staff", 7], { "ai-users": true }]) {
    assertEquals(await verdict(await KEY.sign({ groups })), [403, "token_not_permitted"]);
  }
  const scraped = await gateway.metrics.scrape();
  assertEquals(await tokenCounts(Promise.resolve(scraped)), ["corp not_permitted 5"]);
  assert(!/^gateway_auth_failures_total [1-9]/m.test(scraped));
});

Deno.test("subject and rules may read a member within a claim, and a claim with dots in its name", async () => {
  const { verdict, reports } = await tokenGateway(
    tokenSecurity({
      subject: "preferred_username",
      rules: [
        { claim: "realm_access.roles", values: ["ai"], template: "developer" },
        { claim: "https://example.com/roles", values: ["ai"], template: "admin" },
      ],
    }),
    [KEY],
  );
  const name = { preferred_username: "ada.l", groups: undefined };
  await verdict(await KEY.sign({ ...name, realm_access: { roles: ["x", "ai"] } }));
  await verdict(await KEY.sign({ ...name, "https://example.com/roles": ["ai"] }));
  assertEquals(reports.map(({ client, template }) => [client, template]), [
    ["corp/ada.l", "developer"],
    ["corp/ada.l", "admin"],
  ]);
  for (const claim of ["__proto__.roles", "constructor.name"]) {
    const inherited = await tokenGateway(
      tokenSecurity({ rules: [{ claim, values: ["*"], template: "admin" }] }),
      [KEY],
    );
    assertEquals(await inherited.verdict(await KEY.sign()), [403, "token_not_permitted"]);
  }
});

Deno.test("static keys work where tokens are accepted, also while no key of an issuer is known", async () => {
  const { verdict, gateway, call } = await tokenGateway(tokenSecurity(), [KEY]);
  assertEquals(await verdict("key-of-nightly"), [200, null]);
  assertEquals<unknown>(await verdict("key-of-nobody"), INVALID);
  gateway.generation.tokens?.keySets.retain(new Set());
  assertEquals(await verdict("key-of-nightly"), [200, null]);
  const down = await got(await call(await KEY.sign()));
  assertEquals([down.status, down.error.code], [503, "issuer_unavailable"]);
  assertEquals(down.headers.get("retry-after"), "1");
  assertStringIncludes(String(down.error.message), "'corp'");
  assertEquals((await got(await call(""))).error.code, "missing_api_key");
});

Deno.test("a client key that is a valid token stays the key, from the reload that makes it one", async () => {
  const token = await KEY.sign();
  const own = tokenSecurity({}, { api_key: { keys: [{ name: "own", value: token }] } });
  const { verdict, reports, reload } = await tokenGateway(tokenSecurity(), [KEY]);
  for (const security of [null, own, tokenSecurity()]) {
    if (security !== null) reload(security);
    assertEquals(await verdict(token), [200, null]);
    assertEquals(await verdict(token), [200, null]);
  }
  const clients = reports.map(({ client }) => client);
  assertEquals(clients, ["corp/ada", "corp/ada", "own", "own", "corp/ada", "corp/ada"]);
});

Deno.test("a token of an issuer that another one has signed is refused", async () => {
  const { verdict, refreshed } = await tokenGateway(
    tokenSecurity({}, {
      jwt: {
        issuers: ["corp", "lab"].map((name) => ({
          name,
          issuer: name === "corp" ? ISSUER : "https://lab.example.com",
          jwks_url: name === "corp" ? KEYS_URL : "https://lab.example.com/keys",
          audience: ["switchyard"],
          algorithms: ["ES256"],
          rules: [{ claim: "sub", values: ["*"], template: "developer" }],
        })),
      },
    }),
    [KEY],
  );
  await refreshed([OTHER], "https://lab.example.com/keys");
  const iss = "https://lab.example.com";
  assertEquals(await verdict(await OTHER.sign({ iss })), [200, null]);
  assertEquals<unknown>(await verdict(await KEY.sign({ iss }, { kid: "k2" })), INVALID);
  assertEquals<unknown>(await verdict(await OTHER.sign({}, { kid: "k1" })), INVALID);
});

Deno.test("a new key of the issuer costs one 503, and a key that stays unknown is refused after the refresh", async () => {
  const { verdict, refreshed, gateway, world } = await tokenGateway(tokenSecurity(), [KEY]);
  const demanded: string[] = [];
  gateway.generation.tokens?.keySets.onDemand((source) => void demanded.push(source));
  const token = await OTHER.sign();
  assertEquals(await verdict(token), [503, "issuer_unavailable"]);
  assertEquals(await verdict(token), [503, "issuer_unavailable"]);
  await refreshed([KEY, OTHER]);
  assertEquals(await verdict(token), [200, null]);
  for (let at = 0; at < 100; at++) {
    const [status] = await verdict(await KEY.sign({}, { kid: `random-${at % 7}` }));
    assertEquals(status, 401);
  }
  assertEquals(demanded, [`url ${KEYS_URL}`]);
  await world.advance(30_000);
  assertEquals(await verdict(await KEY.sign({}, { kid: "r" })), [503, "issuer_unavailable"]);
  assertEquals(demanded.length, 2);
  await refreshed(null);
  assertEquals(await verdict(token), [200, null]);
});

Deno.test("tokens of a key that is gone are refused with the next refresh, also remembered ones", async () => {
  const { verdict, refreshed, gateway } = await tokenGateway(tokenSecurity(), [KEY, OTHER]);
  gateway.generation.tokens?.keySets.onDemand(() => {});
  const token = await OTHER.sign();
  assertEquals(await verdict(token), [200, null]);
  await refreshed([KEY]);
  assertEquals(await verdict(token), [503, "issuer_unavailable"]);
  await refreshed([KEY]);
  assertEquals<unknown>(await verdict(token), INVALID);
});

Deno.test("while a refresh of the keys does not end, no request waits for it", async () => {
  const { verdict, gateway, refreshed } = await tokenGateway(tokenSecurity(), [KEY]);
  const token = await KEY.sign();
  assertEquals(await verdict(token), [200, null]);
  gateway.generation.tokens?.keySets.begin(`url ${KEYS_URL}`);
  assertEquals(await verdict(token), [200, null]);
  assertEquals(await verdict(await KEY.sign({ sub: "bob" })), [200, null]);
  const unknown = await OTHER.sign();
  assertEquals(await verdict(unknown), [503, "issuer_unavailable"]);
  await refreshed([KEY, OTHER]);
  assertEquals(await verdict(unknown), [200, null]);
});

Deno.test("keys are used for a day after the last good refresh, then only tokens of this issuer are refused", async () => {
  const { verdict, world, refreshed } = await tokenGateway(tokenSecurity(), [KEY]);
  const token = await KEY.sign({ exp: NOW_S + 1_000_000 });
  assertEquals(await verdict(token), [200, null]);
  await world.advance(24 * 3_600_000);
  await refreshed(null);
  assertEquals(await verdict(token), [200, null]);
  await world.advance(1);
  assertEquals(await verdict(token), [503, "issuer_unavailable"]);
  assertEquals(await verdict("key-of-nightly"), [200, null]);
  await refreshed([KEY]);
  assertEquals(await verdict(token), [200, null]);
});

Deno.test("limits of a template hold for each client, those of a group for all of its clients", async () => {
  const { verdict } = await tokenGateway(
    tokenSecurity({}, {
      templates: [{ name: "admin" }, { name: "developer", budgets: [{ per: "day", tokens: 15 }] }],
      groups: [{ name: "all", templates: ["developer"], budgets: [{ per: "day", tokens: 43 }] }],
    }),
    [KEY],
  );
  const statuses: number[] = [];
  for (const sub of ["ada", "ada", "ada", "bob", "bob", "eve"]) {
    statuses.push((await verdict(await KEY.sign({ sub, jti: String(statuses.length) })))[0]);
  }
  assertEquals(statuses, [200, 200, 429, 200, 200, 429]);
});

Deno.test("a reload with other rules counts from the next request, and keeps what was used", async () => {
  const limited = (tokens: number) =>
    tokenSecurity({}, {
      templates: [{ name: "admin" }, { name: "developer", budgets: [{ per: "day", tokens }] }],
    });
  const { verdict, reload } = await tokenGateway(limited(14), [KEY]);
  const token = await KEY.sign();
  assertEquals(await verdict(token), [200, null]);
  assertEquals((await verdict(token))[0], 429);
  reload(limited(28));
  assertEquals(await verdict(token), [200, null]);
  reload(tokenSecurity({ rules: [{ claim: "groups", values: ["other"], template: "admin" }] }));
  assertEquals(await verdict(token), [403, "token_not_permitted"]);
});

Deno.test("metrics have the template, and only label values that the file has", async () => {
  const { verdict, gateway, log } = await tokenGateway(
    tokenSecurity({
      labels: { team: "department", floor: "floor" },
      rules: [
        { claim: "department", values: ["green"], template: "developer" },
        { claim: "floor", values: ["9"], template: "developer" },
        { claim: "groups", values: ["*"], template: "developer" },
      ],
    }, {
      templates: [{ name: "admin" }, { name: "developer", labels: { team: "blue" } }],
    }),
    [KEY],
    { more: "observability: {key_labels: [team]}\n" },
  );
  await verdict(await KEY.sign({ sub: "secret-subject", department: "secret-department" }));
  await verdict(await KEY.sign({ sub: "secret-subject", department: ["blue"] }));
  await verdict(await KEY.sign({ sub: "secret-subject", department: "green" }));
  await verdict(await KEY.sign({ sub: "secret-subject", department: "9" }));
  await verdict(await KEY.sign({ sub: "secret-subject" }));
  const scraped = await gateway.metrics.scrape();
  assert(!scraped.includes("secret-"), scraped);
  assertStringIncludes(scraped, 'gateway_client_tokens_total{client="template:developer"} 70');
  const teams = scraped.matchAll(/key_team="(.*?)"/g).map(([, team]) => team);
  assertEquals([...new Set(teams)].toSorted(), ["_other", "blue", "green"]);
  assertStringIncludes(log.join(), '"key_team":"secret-department"');
});

Deno.test("a token with 200 groups is accepted, and one that is too long is refused by that name", async () => {
  const groups = Array.from({ length: 200 }, () => crypto.randomUUID());
  const rules = [{ claim: "groups", values: [groups.at(-1) ?? ""], template: "developer" }];
  const { call, verdict } = await tokenGateway(
    tokenSecurity({ algorithms: ["RS256"], rules }),
    [RSA_KEY],
  );
  const about = { oid: crypto.randomUUID(), name: "Ada Lovelace", scp: "x".repeat(1_000) };
  assertEquals(await verdict(await RSA_KEY.sign({ ...about, groups })), [200, null]);
  const long = await RSA_KEY.sign({ ...about, groups: [...groups, ...groups] });
  for (const token of [long, long.replaceAll(".", ""), "x".repeat(100_000)]) {
    const refused = await got(await call(token));
    assertEquals<unknown>([refused.status, refused.error.code], INVALID);
    assertStringIncludes(String(refused.error.message), "more than 16384 characters");
  }
});

Deno.test("the debug log has the reason of a refused token by its name, and no claim", async () => {
  const { verdict, log } = await tokenGateway(tokenSecurity(), [KEY]);
  const tokens = [
    await KEY.sign({ sub: "secret-ada", aud: "secret-audience" }),
    await KEY.sign({ sub: "secret-ada", iss: "https://secret.example" }),
    await KEY.sign({ sub: "secret-ada", groups: ["secret-group"] }),
    "key-of-nobody",
    "x".repeat(16_385),
  ];
  for (const token of tokens) await verdict(token);
  const refused = log.flatMap((line) => {
    const { msg, message = msg, level, issuer, reason } = JSON.parse(line);
    return message === "token refused" ? [[level, issuer, reason]] : [];
  });
  assertEquals(refused, [
    ["debug", "corp", "audience"],
    ["debug", undefined, "unknown_issuer"],
    ["debug", "corp", "not_permitted"],
    ["debug", undefined, "malformed"],
    ["debug", undefined, "too_long"],
  ]);
  assert(!log.join().includes("secret-"));
});

Deno.test("routes match clients with tokens by patterns of their names and by labels of claims", async () => {
  const { verdict, reports } = await tokenGateway(
    tokenSecurity({ labels: { team: "department" } }),
    [KEY],
    {
      providers: `
providers: {up: {type: compat, base_url: "http://up", api_key: sk-upstream-secret}}
retry: {enabled: false}
routing:
  routes:
    - {name: blue, match: {labels: {team: blue}}, targets: [{provider: up}]}
    - {name: tokens, match: {key: ["corp/*"]}, targets: [{provider: up}]}
    - {name: rest, targets: [{provider: up}]}
`,
    },
  );
  await verdict(await KEY.sign({ department: "blue" }));
  await verdict(await KEY.sign());
  await verdict("key-of-nightly");
  assertEquals(reports.map(({ route }) => route), ["blue", "tokens", "rest"]);
});

Deno.test("each algorithm that an issuer may list verifies a token, and none that it does not list", async () => {
  const all = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];
  for (const alg of all) {
    const key = await (/^[RP]S/.test(alg) ? sameKeyFor(alg, RSA_KEY) : newSigningKey("k1", alg));
    const token = await key.sign();
    const listed = await tokenGateway(tokenSecurity({ algorithms: [alg] }), [key]);
    assertEquals(await listed.verdict(token), [200, null], alg);
    const others = all.filter((one) => one !== alg);
    const unlisted = await tokenGateway(tokenSecurity({ algorithms: others }), [key]);
    assertEquals<unknown>(await unlisted.verdict(token), INVALID, alg);
  }
});

Deno.test("a token in a path is in no log line, with any key and without one", async () => {
  const { app, log, reports } = await tokenGateway(tokenSecurity(), [KEY]);
  const token = await KEY.sign();
  for (const authorization of ["", "Bearer key-of-nightly", "Bearer wrong", `Bearer ${token}`]) {
    const headers = { host: "localhost", authorization };
    await app(new Request(`http://localhost/v1/files/${token}/content`, { headers }));
  }
  assertEquals(log.join().includes(String(token.split(".")[2])), false);
  assertEquals(new Set(reports.map(({ path }) => decodeURI(path))).size, 1);
});

Deno.test("the usage of a client with a token is marked as such, because a key may have its name", async () => {
  const keys = [{ name: "corp/ada", value: "key-of-corp/ada" }];
  for (const [value, isToken] of [[await KEY.sign(), true], ["key-of-corp/ada", undefined]]) {
    const security = tokenSecurity({}, { api_key: { keys } });
    const { verdict, gateway } = await tokenGateway(security, [KEY]);
    assertEquals(await verdict(String(value)), [200, null]);
    const read = await gateway.state.usage.read(["2023-11-14"]);
    assert(read.ok);
    assertEquals<unknown>(read.value.map((row) => [row.key, row.isToken]), [["corp/ada", isToken]]);
  }
});

Deno.test("the keys of an issuer that a reload removes are forgotten", async () => {
  const { verdict, gateway, reload, world } = await tokenGateway(tokenSecurity(), [KEY]);
  const token = await KEY.sign();
  assertEquals(await verdict(token), [200, null]);
  reload(tokenSecurity({ jwks_url: `${KEYS_URL}/other` }));
  assertEquals(gateway.generation.tokens?.keySets.state(`url ${KEYS_URL}`, world.now()), null);
  reload(tokenSecurity());
  assertEquals(await verdict(token), [503, "issuer_unavailable"]);
});
