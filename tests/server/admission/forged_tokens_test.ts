import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { CompactSign, exportSPKI, importJWK, SignJWT } from "jose";
import fc from "fast-check";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { answers, COMPLETION, got } from "../../support/chat_call.ts";
import {
  ISSUER,
  newSigningKey,
  NOW_S,
  tokenGateway,
  tokenSecurity,
} from "../../support/token_issuer.ts";

const KEY = await newSigningKey("k1", "RS256");
const EC_KEY = await newSigningKey("k2");
const STRANGER = await newSigningKey("k1", "RS256");
const RSA = { algorithms: ["RS256"] };
const INVALID = [401, "invalid_api_key"];

const CLAIMS = {
  iss: ISSUER,
  aud: "switchyard",
  sub: "eve",
  exp: NOW_S + 3_600,
  groups: ["ai-admins"],
};

function encode(value: unknown): string {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value))
    .toString("base64url");
}

/** A token with this header and signature, which no issuer has made. */
function forged(header: JsonObject, signature = "", claims: unknown = CLAIMS): string {
  return `${encode(header)}.${encode(claims)}.${signature}`;
}

/** A gateway, and the addresses that it has fetched. */
async function gatewayFor(issuer: Parameters<typeof tokenSecurity>[0] = RSA, keys = [KEY]) {
  const urls: string[] = [];
  const gateway = await tokenGateway(tokenSecurity(issuer), keys, {
    fetch: (url) => {
      urls.push(url);
      return answers(200, COMPLETION);
    },
  });
  gateway.gateway.generation.tokens?.keySets.onDemand(() => {});
  return { ...gateway, urls };
}

Deno.test("a token without a signature is refused, however its algorithm is written", async () => {
  const { verdict, urls } = await gatewayFor();
  for (const alg of ["none", "None", "NONE", "nOnE", "", null, 0, ["none"], undefined]) {
    for (const signature of ["", encode("x")]) {
      assertEquals<unknown>(
        await verdict(forged({ alg: alg as string, kid: "k1" }, signature)),
        INVALID,
        JSON.stringify(alg),
      );
    }
  }
  assertEquals(urls, []);
});

Deno.test("a public key is never the secret of a symmetric signature", async () => {
  const pem = await exportSPKI(await importJWK(KEY.publicJwk, "RS256") as CryptoKey);
  const secrets = [pem, pem.trim(), JSON.stringify(KEY.publicJwk), KEY.publicJwk.n ?? ""];
  for (const algorithms of [["RS256"], ["RS256", "PS256", "ES256", "EdDSA"]]) {
    const { verdict } = await gatewayFor({ algorithms });
    for (const secret of secrets) {
      for (const alg of ["HS256", "HS384", "HS512", "RS256"]) {
        const signed = forged({ alg, kid: "k1" }).slice(0, -1);
        const mac = createHmac(`sha${alg.slice(2)}`, secret).update(signed).digest("base64url");
        assertEquals<unknown>(await verdict(`${signed}.${mac}`), INVALID, alg);
      }
    }
  }
});

Deno.test("a key serves its own algorithm only", async () => {
  const { verdict } = await gatewayFor({ algorithms: ["RS256", "PS256", "ES256"] }, [KEY, EC_KEY]);
  assertEquals(await verdict(await KEY.sign()), [200, null]);
  assertEquals(await verdict(await EC_KEY.sign()), [200, null]);
  assertEquals<unknown>(await verdict(await KEY.sign({}, { kid: "k2" })), INVALID);
  assertEquals<unknown>(await verdict(await EC_KEY.sign({}, { kid: "k1" })), INVALID);
  const pss = await importJWK({ ...await exportPrivate(KEY.privateKey), alg: "PS256" }, "PS256");
  const token = await new SignJWT(CLAIMS).setProtectedHeader({ alg: "PS256", kid: "k1" })
    .sign(pss);
  assertEquals<unknown>(await verdict(token), INVALID, "the key set says RS256");
});

async function exportPrivate(key: CryptoKey) {
  return await crypto.subtle.exportKey("jwk", key);
}

Deno.test("the name of a key opens no file and no address, and is never trusted", async () => {
  const { verdict, urls } = await gatewayFor();
  const names = [
    "../../../../etc/passwd",
    "/dev/null",
    "file:///etc/passwd",
    "https://evil.example/keys",
    "k1\0",
    "K1",
    "__proto__",
    "constructor",
    "' OR 1=1 --",
    "x".repeat(1_400),
  ];
  for (const kid of names) {
    const [status] = await verdict(await STRANGER.sign({}, { kid }));
    assert(status === 401 || status === 503, kid);
  }
  for (const kid of [7, null, [], {}, true]) {
    assertEquals<unknown>(await verdict(forged({ alg: "RS256", kid }, "AAAA")), INVALID);
  }
  assertEquals(urls, []);
});

Deno.test("keys and addresses within a token cause no trust and no request", async () => {
  const { verdict, urls } = await gatewayFor();
  const headers: JsonObject[] = [
    { jku: "https://evil.example/keys" },
    { x5u: "https://evil.example/cert" },
    { jwk: STRANGER.publicJwk as JsonObject },
    { x5c: ["AAAA"] },
    { jku: "https://evil.example/keys", jwk: STRANGER.publicJwk as JsonObject, kid: "k1" },
  ];
  for (const header of headers) {
    assertEquals<unknown>(await verdict(await STRANGER.sign(CLAIMS, header)), INVALID);
  }
  assertEquals(await verdict(await KEY.sign({}, { jku: "https://evil.example" })), [200, null]);
  assertEquals(urls.filter((url) => url.includes("evil")), []);
});

Deno.test("a critical extension is refused, because none is known", async () => {
  const { verdict } = await gatewayFor();
  for (const crit of [["b64"], [], ["exp"], "b64"]) {
    assertEquals<unknown>(
      await verdict(forged({ alg: "RS256", kid: "k1", crit }, "AAAA")),
      INVALID,
    );
  }
});

Deno.test("without the name of a key a token is valid only if one key fits", async () => {
  const one = await gatewayFor({ algorithms: ["RS256", "ES256"] }, [KEY, EC_KEY]);
  assertEquals(await one.verdict(await KEY.sign({}, { kid: undefined as never })), [200, null]);
  const other = { ...STRANGER, publicJwk: { ...STRANGER.publicJwk, kid: "k3" } };
  const two = await gatewayFor(RSA, [KEY, other]);
  assertEquals<unknown>(
    await two.verdict(await KEY.sign({}, { kid: undefined as never })),
    INVALID,
  );
});

Deno.test("a token within a token, an encrypted one, and a text that a key of the issuer has signed are refused", async () => {
  const { verdict, reports } = await gatewayFor();
  const inner = await KEY.sign();
  const signed = (payload: string, header: JsonObject) =>
    new CompactSign(Buffer.from(payload))
      .setProtectedHeader({ alg: "RS256", kid: "k1", ...header }).sign(KEY.privateKey);
  const [head = "", body = "", signature = ""] = inner.split(".");
  const tokens = [
    await signed(inner, { cty: "JWT" }),
    await signed(JSON.stringify(inner), { cty: "JWT" }),
    await signed(JSON.stringify([CLAIMS]), {}),
    await signed("null", {}),
    `${encode({ alg: "dir", enc: "A256GCM" })}..${head}.${body}.${signature}`,
    `${encode({ alg: "RSA-OAEP", enc: "A256GCM", kid: "k1" })}.${head}.${signature}`,
    JSON.stringify({ payload: body, protected: head, signature }),
  ];
  for (const token of tokens) assertEquals<unknown>(await verdict(token), INVALID, token);
  assertEquals(await verdict(await signed(JSON.stringify(CLAIMS), {})), [200, null]);
  assert(reports.every(({ bug }) => bug === null));
});

Deno.test("a token whose end is an infinite number is refused, because it would have none", async () => {
  const { verdict, reports } = await gatewayFor();
  const ending = (exp: string) =>
    new CompactSign(Buffer.from(JSON.stringify(CLAIMS).replace(/"exp":\d+/, `"exp":${exp}`)))
      .setProtectedHeader({ alg: "RS256", kid: "k1" }).sign(KEY.privateKey);
  assertEquals(await verdict(await ending(`${NOW_S + 9.5}`)), [200, null]);
  assertEquals<unknown>(await verdict(await ending("1e400")), INVALID);
  assertEquals<unknown>(await verdict(await ending("-1e400")), [401, "token_expired"]);
  assert(reports.every(({ bug }) => bug === null));
});

Deno.test("a signature of zeros, an empty one and one in another encoding are refused", async () => {
  const { verdict } = await gatewayFor({ algorithms: ["ES256"] }, [EC_KEY]);
  const [head, body, signature = ""] = (await EC_KEY.sign()).split(".");
  const raw = Buffer.from(signature, "base64url");
  const integer = (bytes: Buffer) => Buffer.concat([Buffer.from([0x02, 33, 0]), bytes]);
  const pair = Buffer.concat([integer(raw.subarray(0, 32)), integer(raw.subarray(32))]);
  const forms = {
    zeros: Buffer.alloc(64),
    "one zero": Buffer.from([0]),
    ones: Buffer.alloc(64, 0xff),
    swapped: Buffer.concat([raw.subarray(32), raw.subarray(0, 32)]),
    der: Buffer.concat([Buffer.from([0x30, pair.length]), pair]),
    longer: Buffer.concat([raw, Buffer.alloc(1)]),
  };
  for (const [name, bytes] of Object.entries(forms)) {
    assertEquals<unknown>(
      await verdict(`${head}.${body}.${bytes.toString("base64url")}`),
      INVALID,
      name,
    );
  }
  assertEquals(await verdict(`${head}.${body}.${signature}`), [200, null]);
});

Deno.test("what is malformed, too large or deeply nested is refused without a fault", async () => {
  const { verdict, reports } = await gatewayFor();
  const [head = "", body = "", signature = ""] = (await KEY.sign()).split(".");
  const deep = `${"[".repeat(6_000)}${"]".repeat(6_000)}`;
  const wrong = [
    `${head}.${body}`,
    `${head}.${body}.`,
    `.${body}.${signature}`,
    `${head}..${signature}`,
    `${head}.${body}.${signature}.${signature}`,
    `${head}.${body}.${signature}=`,
    `${head}.${body}.${signature}\u00e9`,
    `${head}. ${body}.${signature}`,
    `${encode({ alg: "RS256", kid: "k1", pad: "x".repeat(1_600) })}.${body}.${signature}`,
    `${head}.${encode({ ...CLAIMS, pad: "x".repeat(16_000) })}.${signature}`,
    `${encode(deep.slice(0, 500) + deep.slice(-500))}.${body}.${signature}`,
    `${head}.${encode(`{"iss":"${ISSUER}","a":${deep.slice(1_000, -1_000)}}`)}.${signature}`,
    `${head}.${encode(deep.slice(1_000, -1_000))}.${signature}`,
    `${encode("[]")}.${body}.${signature}`,
    `${encode('"alg"')}.${body}.${signature}`,
    `${encode('{"alg":"RS256"')}.${body}.${signature}`,
    `${Buffer.from([0xff, 0xfe]).toString("base64url")}.${body}.${signature}`,
    `${head}.${encode(`{"iss":"x","iss":"${ISSUER}"}`)}.${signature}`,
    "..",
    ".".repeat(3),
    "a.b.c",
  ];
  for (const token of wrong) {
    assertEquals<unknown>(await verdict(token), INVALID, token.slice(0, 80));
  }
  assert(reports.every(({ bug }) => bug === null));
});

Deno.test("a forged token gets the same response for every payload of a known issuer", async () => {
  const { call } = await gatewayFor();
  const payloads = [
    {},
    { exp: NOW_S - 9_999 },
    { exp: undefined },
    { aud: "other" },
    { sub: undefined },
    { groups: [] },
    { nbf: NOW_S + 9_999 },
  ];
  const answers = new Set<string>();
  for (const claims of payloads) {
    const answer = await got(await call(await STRANGER.sign(claims as JsonObject)));
    answers.add(JSON.stringify([answer.status, answer.error.code, answer.error.message]));
  }
  assertEquals([...answers].length, 1, [...answers].join("\n"));
});

Deno.test("no mutation of a valid token is accepted", async () => {
  const { verdict, reports } = await gatewayFor();
  const token = await KEY.sign();
  const other = await KEY.sign({ sub: "bob" });
  const parts = [...token.split("."), ...other.split(".")];
  const character = fc.constantFrom(
    ..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
  );
  const mutated = fc.oneof(
    fc.tuple(fc.nat(token.length - 1), character).map(([at, by]) =>
      token.slice(0, at) + by + token.slice(at + 1)
    ),
    fc.nat(token.length - 1).map((at) => token.slice(0, at) + token.slice(at + 1)),
    fc.tuple(fc.nat(5), fc.nat(5), fc.nat(5)).map((at) => at.map((one) => parts[one]).join(".")),
  );
  await fc.assert(
    fc.asyncProperty(mutated, async (text) => {
      if (text === token || text === other) return;
      const [status] = await verdict(text);
      // The last character of base64url has bits that count for nothing.
      const isSame = isSameToken(text, token) || isSameToken(text, other);
      assert(isSame || status === 401 || status === 503, text);
    }),
    { numRuns: 400 },
  );
  assert(reports.every(({ bug }) => bug === null));
});

/** True if both texts have the same header, claims and signature, in bytes. */
function isSameToken(one: string, other: string): boolean {
  const bytes = (text: string) =>
    text.split(".").map((part) => Buffer.from(part, "base64url").toString("hex"));
  const [a, b] = [one.split("."), other.split(".")];
  return a[0] === b[0] && a[1] === b[1] && bytes(one).join() === bytes(other).join();
}
