import { Buffer } from "node:buffer";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { ISSUER, newSigningKey, tokenSecurity } from "../support/token_issuer.ts";
import { configFile, ran } from "./test_terminal.ts";

const KEY = await newSigningKey("k1");
const OTHER = await newSigningKey("k1");

/** The year 2096, because the command has the clock of the machine. */
const EXP_S = 3_999_999_999;

/** The output of `explain` for a token on stdin. The keys of the issuer are in a file. */
async function explained(token: string, keys: unknown = [KEY.publicJwk], issuer = {}) {
  using keyFile = await configFile(JSON.stringify({ keys }));
  const settings = { jwks_url: undefined, jwks_file: keyFile.path, ...issuer };
  using file = await configFile(
    `${
      tokenSecurity({ labels: { team: "department" }, ...settings as object }, {
        templates: [{ name: "admin" }, { name: "developer", models: ["gpt*"], max_concurrent: 5 }],
        groups: [{ name: "all", templates: ["developer"], budgets: [{ per: "month", usd: 9 }] }],
      })
    }
providers: {openai: {api_key: k}}
routing:
  routes:
    - {name: blue, match: {labels: {team: blue}}, targets: [{provider: openai}]}
    - {name: rest, targets: [{provider: openai}]}
`,
  );
  const args = ["explain", "--config", file.path, "--model", "gpt-4o", "--token", "-"];
  const done = await ran(args, {}, `${token}\n`);
  assert(token === "" || !(done.out + done.err).includes(token.split(".")[1] ?? token));
  return done;
}

Deno.test("explain prints the client of a token, its key, and the route that it gets", async () => {
  const { code, out } = await explained(await KEY.sign({ exp: EXP_S, department: ["blue"] }));
  assertEquals(code, 0);
  assertEquals(
    out.slice(0, out.indexOf("Request:")),
    `Token of issuer corp, signed by key k1:
  client: corp/ada
  template: developer
  models: gpt*
  providers: all
  endpoints: all
  labels: team=blue
  limits: 5 requests at once
  limits of group all: 9 USD per month
`,
  );
  assertStringIncludes(out, "Route blue: serves the request");
});

Deno.test("explain shows what a terminal would not, as in the name of a client", async () => {
  const { out } = await explained(await KEY.sign({ exp: EXP_S, sub: "a\u202enimda" }));
  assertStringIncludes(out, "client: corp/a\\u202enimda\n");
});

Deno.test("explain names the reason for which a token is refused", async () => {
  const unsigned = (alg: string) =>
    [{ alg, kid: "k1" }, { iss: ISSUER, exp: EXP_S, sub: "eve" }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  const refused: readonly (readonly [token: string, reason: RegExp])[] = [
    ["", /no signed token/],
    [
      await KEY.sign({ exp: EXP_S, pad: "x".repeat(14_000) }),
      /longer than a token may be, which is 16384/,
    ],
    [`${unsigned("none")}.AAAA`, /algorithm of the token is not in algorithms of any issuer/],
    [`${unsigned("HS256")}.AAAA`, /algorithm of the token/],
    [await KEY.sign({ exp: EXP_S }, { kid: "../../etc/passwd" }), /no key with the kid/],
    [await OTHER.sign({ exp: EXP_S }), /signature is not valid for the key of issuer corp/],
    [await KEY.sign({ exp: EXP_S, aud: "other" }), /aud has none of: switchyard/],
    [await KEY.sign({ exp: EXP_S, iss: `${ISSUER}/` }), /iss is not, byte for byte/],
    [await KEY.sign({ exp: undefined as never }), /exp is missing or is no time/],
    [await KEY.sign({ exp: EXP_S, sub: 7 as never }), /or sub names no client/],
    [await KEY.sign({ exp: 1 }), /has expired, also with 60 s/],
    [await KEY.sign({ exp: EXP_S, nbf: EXP_S }), /nbf or iat is more than 60 s in the future/],
    [await KEY.sign({ exp: EXP_S, groups: [] }), /is valid, and none of rules of issuer corp fits/],
  ];
  for (const [token, reason] of refused) {
    const { code, out } = await explained(token);
    assertEquals(code, 1, out);
    assertMatch(out, reason);
    assertMatch(out, /^Refused: [^\n]+\.\n$/);
  }
});

Deno.test("explain says why the keys of the issuer are not available", async () => {
  const token = await KEY.sign({ exp: EXP_S });
  const url = { jwks_url: "http://127.0.0.1:1/keys", jwks_file: undefined };
  const silent = await explained(token, [KEY.publicJwk], url);
  assertEquals(silent.code, 1);
  assertMatch(silent.out, /keys of issuer corp are not available: cannot be fetched/);
  const empty = await explained(token, []);
  assertMatch(empty.out, /not available: has no usable key/);
});

Deno.test("explain reads a token from a file, and takes either a key or a token", async () => {
  using file = await configFile(
    "providers: {openai: {api_key: k}}\n" +
      "routing: {routes: [{name: all, targets: [{provider: openai}]}]}\n",
  );
  using token = await configFile("a.b.c\n");
  const args = ["explain", "--config", file.path, "--model", "m"];
  const off = await ran([...args, "--token", token.path]);
  assertEquals([off.code, off.err], [1, ""]);
  assertStringIncludes(off.out, "Refused: tokens are not accepted");
  const missing = await ran([...args, "--token", "/nothing"]);
  assertEquals([missing.code, missing.err], [1, "--token: the file does not exist.\n"]);
  assertEquals((await ran([...args, "--token", token.path, "--key", "a"])).code, 2);
});
