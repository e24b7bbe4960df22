import { newKeyRefresh } from "../../src/gateway/key_refresh.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import type { VerifyingKey } from "../../src/access/tokens/key_set.ts";
import { newLog, textOf } from "../../src/observe/log.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { newSigningKey, tokenSecurity } from "../support/token_issuer.ts";
import { configOf, withSection } from "../config/parse.ts";
import { type Fetch, scriptedWorld } from "../support/world.ts";

const KEY = await newSigningKey("k1");
const SET = JSON.stringify({ keys: [KEY.publicJwk] });
const CONFIG = configOf(withSection(tokenSecurity()));

/** A refresh over a network that a test plays, with what it has sent to its receiver. */
function refreshOver(fetch: Fetch, world = scriptedWorld({ fetch })) {
  const received: (readonly (string | null)[] | "begin" | null)[] = [];
  const lines: string[] = [];
  const counts: string[] = [];
  const refresh = newKeyRefresh({
    world,
    log: newLog({ level: "debug", format: "json" }, (line) => void lines.push(textOf(line))),
    receiver: {
      begin: () => void received.push("begin"),
      end: (_source, keys: readonly VerifyingKey[] | null) =>
        void received.push(keys?.map(({ kid }) => kid) ?? null),
    },
    counted: (issuer, result) => void counts.push(`${issuer} ${result}`),
  });
  return { refresh, received, lines, counts, world };
}

Deno.test("keys are fetched at the start and every 15 minutes, give or take a tenth", async () => {
  let fetches = 0;
  const { refresh, received, world, counts } = refreshOver(() => {
    fetches += 1;
    return Promise.resolve(new Response(SET));
  });
  await refresh.apply(CONFIG);
  assertEquals(received, ["begin", ["k1"]]);
  await world.advance(13.5 * 60_000 - 1);
  assertEquals(fetches, 1);
  await world.advance(1);
  await world.advance(0);
  assertEquals(fetches, 2);
  assertEquals(counts, ["corp success", "corp success"]);
  await refresh.close();
  assertEquals(world.waiting, 0);
});

Deno.test("what is no key set leaves the last keys, is tried again after 30 s, and is one warning", async () => {
  const oct = { kty: "oct", k: "c2VjcmV0", kid: "k1", alg: "HS256" };
  const weak = await crypto.subtle.generateKey(
    {
      name: "RSASSA-PKCS1-v1_5",
      modulusLength: 1024,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: "SHA-256",
    },
    true,
    ["sign", "verify"],
  ).then(({ publicKey }) => crypto.subtle.exportKey("jwk", publicKey));
  const answers: Readonly<Record<string, () => Response>> = {
    "status 500": () => new Response(SET, { status: 500 }),
    "status 302": () =>
      new Response(SET, { status: 302, headers: { location: "https://evil.example" } }),
    "no JSON Web Key Set": () => new Response("<html></html>"),
    "bytes": () => new Response("x".repeat(300 * 1024)),
    "no usable key": () => new Response(JSON.stringify({ keys: [oct] })),
    "usable key": () => new Response(JSON.stringify({ keys: [weak] })),
    "more than 100 keys": () =>
      new Response(JSON.stringify({ keys: Array(101).fill(KEY.publicJwk) })),
    "has no usable": () => new Response(JSON.stringify({ keys: [KEY.publicJwk, KEY.publicJwk] })),
    "no usable": () => new Response('{"keys":[]}'),
    "is no JSON": () => new Response('{"keys":{}}'),
  };
  for (const [reason, answer] of Object.entries(answers)) {
    const { refresh, received, world, lines } = refreshOver(() => Promise.resolve(answer()));
    await refresh.apply(CONFIG);
    assertEquals(received, ["begin", null], reason);
    await world.advance(30_000);
    assertEquals(received, ["begin", null, "begin", null], reason);
    assertEquals(lines.length, 1, lines.join());
    assertStringIncludes(lines[0] ?? "", reason);
    await refresh.close();
  }
});

Deno.test("a key set above 256 KiB is not read to its end, and one that hangs is given up after 10 s", async () => {
  let sent = 0;
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536));
    },
    cancel() {
      isCancelled = true;
    },
  });
  const large = refreshOver(() => Promise.resolve(new Response(endless)));
  await large.refresh.apply(CONFIG);
  assertEquals(large.received, ["begin", null]);
  assert(isCancelled && sent < 1024 * 1024, String(sent));
  await large.refresh.close();
  const hanging = refreshOver(() => new Promise(() => {}));
  const applied = hanging.refresh.apply(CONFIG);
  await hanging.world.advance(9_999);
  assertEquals(hanging.received, ["begin"]);
  await hanging.world.advance(1);
  await applied;
  assertEquals(hanging.received, ["begin", null]);
  await hanging.refresh.close();
});

Deno.test("secret keys of a set are not used, and are one warning", async () => {
  const secret = await crypto.subtle.exportKey("jwk", KEY.privateKey);
  const { refresh, received, world, lines } = refreshOver(() =>
    Promise.resolve(
      new Response(JSON.stringify({ keys: [{ ...KEY.publicJwk, d: secret.d }] })),
    )
  );
  await refresh.apply(CONFIG);
  await refresh.apply(CONFIG);
  assertEquals(received, ["begin", ["k1"], "begin", ["k1"]]);
  assertEquals(lines.length, 1);
  assert(!lines[0]?.includes(String(secret.d)));
  await refresh.close();
  assertEquals(world.waiting, 0);
});

Deno.test("many demands during one fetch make no other one", async () => {
  let fetches = 0;
  const answer = Promise.withResolvers<Response>();
  const { refresh, received } = refreshOver(() => {
    fetches += 1;
    return answer.promise;
  });
  const applied = refresh.apply(CONFIG);
  for (let at = 0; at < 100; at++) refresh.demand("url https://login.example.com/keys");
  refresh.demand("url https://evil.example/keys");
  answer.resolve(new Response(SET));
  await applied;
  assertEquals([fetches, received.length], [1, 2]);
  await refresh.close();
});

Deno.test("a file with keys is read again every 10 s", async () => {
  const path = await Deno.makeTempFile({ suffix: ".json" });
  await Deno.writeTextFile(path, SET);
  const { security: { jwt, ...security } } = CONFIG;
  const [{ jwks_url: _url, ...issuer } = assertIssuer()] = jwt.issuers;
  const config = { security: { ...security, jwt: { issuers: [{ ...issuer, jwks_file: path }] } } };
  const { refresh, received, world } = refreshOver(() => Promise.reject(new Error("no network")));
  await refresh.apply(config);
  assertEquals(received, ["begin", ["k1"]]);
  await Deno.writeTextFile(path, JSON.stringify({ keys: [{ ...KEY.publicJwk, kid: "k2" }] }));
  await world.advance(10_000);
  await refresh.apply(config);
  assertEquals(received.at(-1), ["k2"]);
  await Deno.remove(path);
  await refresh.apply(config);
  assertEquals(received.at(-1), null);
  await refresh.close();
});

function assertIssuer(): never {
  throw new Error("the configuration has an issuer");
}

Deno.test("keys are fetched over a socket, and an address that refuses is a failure", async () => {
  await using server = Deno.serve({ port: 0, onListen: () => {} }, () => new Response(SET));
  const { port } = server.addr;
  const world = newRealWorld();
  const { security: { jwt, ...security } } = CONFIG;
  const [issuer = assertIssuer()] = jwt.issuers;
  const config = (url: string) => ({
    security: { ...security, jwt: { issuers: [{ ...issuer, jwks_url: url }] } },
  });
  const { refresh, received } = refreshOver(() => Promise.reject(), {
    ...scriptedWorld(),
    send: world.send,
  });
  await refresh.apply(config(`http://127.0.0.1:${port}/keys`));
  assertEquals(received, ["begin", ["k1"]]);
  await refresh.apply(config("http://127.0.0.1:1/keys"));
  assertEquals(received.at(-1), null);
  await refresh.close();
  world.close();
});

Deno.test("a folder, a device or a large file in place of a key file is not read, and leaves the last keys", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/keys.json`;
  await Deno.writeTextFile(path, SET);
  const { security: { jwt, ...security } } = CONFIG;
  const [{ jwks_url: _url, ...issuer } = assertIssuer()] = jwt.issuers;
  const config = { security: { ...security, jwt: { issuers: [{ ...issuer, jwks_file: path }] } } };
  const { refresh, received, lines } = refreshOver(() => Promise.reject(new Error("no network")));
  await refresh.apply(config);
  const replacements: Readonly<Record<string, () => Promise<unknown>>> = {
    "not a regular file": () => Deno.mkdir(path),
    // A device whose read never ends, as that of a pipe would not.
    "is not a regular file": () => Deno.symlink("/dev/zero", path),
    "has more than 256 KiB": () => Deno.writeTextFile(path, "x".repeat(300 * 1024)),
  };
  for (const [reason, replace] of Object.entries(replacements)) {
    await Deno.remove(path);
    await replace();
    await refresh.apply(config);
    assertEquals(received.at(-1), null, reason);
    assertStringIncludes(lines.at(-1) ?? "", reason);
  }
  await Deno.remove(folder, { recursive: true });
  await refresh.close();
});
