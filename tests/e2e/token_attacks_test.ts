import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import { exportSPKI, importJWK } from "jose";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { newKeyRefresh } from "../../src/gateway/key_refresh.ts";
import { newLog } from "../../src/observe/log.ts";
import { answers, COMPLETION } from "../support/chat_call.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { oneProvider } from "../support/gateway.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { ISSUER, newSigningKey, NOW_S, tokenSecurity } from "../support/token_issuer.ts";
import { scriptedWorld, sendBy } from "../support/world.ts";
import { configOf } from "../config/parse.ts";

const KEY = await newSigningKey("k1", "RS256");
const NEW_KEY = await newSigningKey("k2", "RS256");
const STRANGER = await newSigningKey("k1", "RS256");
const EXP = NOW_S + 1_000_000;

type Keys = readonly (typeof KEY)[];

function setOf(keys: Keys): string {
  return JSON.stringify({ keys: keys.map(({ publicJwk }) => publicJwk) });
}

/** A server that records the paths of its requests, which `answer` answers. */
function startServer(answer: (request: Request) => Response | Promise<Response>) {
  const paths: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    paths.push(new URL(request.url).pathname);
    return answer(request);
  });
  return {
    paths,
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** A gateway on a socket with the keys at an address on another one; the clock is scripted. */
async function startGateway(keysUrl: string) {
  const clock = scriptedWorld();
  const real = newRealWorld();
  const upstream = sendBy(() => answers(200, COMPLETION));
  const config = tokenSecurity({ jwks_url: keysUrl, algorithms: ["RS256"] }) +
    oneProvider("http://up.test");
  const served = socketGateway(config, {
    world: { ...real, now: clock.now, wall: clock.wall, unix: clock.unix, send: upstream },
  });
  const { tokens } = served.gateway.generation;
  assert(tokens !== null);
  const { keySets } = tokens;
  const results: boolean[] = [];
  const waiting: (() => void)[] = [];
  const refresh = newKeyRefresh({
    world: { ...clock, send: real.send },
    log: newLog({ level: "error", format: "json" }, () => {}),
    receiver: {
      begin: keySets.begin,
      end(source, keys) {
        keySets.end(source, keys, clock.now());
        results.push(keys !== null);
        waiting.splice(0).forEach((resolve) => resolve());
      },
    },
    counted: () => {},
  });
  keySets.onDemand(refresh.demand);
  await refresh.apply(configOf(config));
  return {
    clock,
    /** True for each refresh that has ended with keys. */
    results,
    /** Lets this time pass and waits until the refresh that it begins has ended. */
    async refreshed(ms: number) {
      const ended = new Promise<void>((resolve) => void waiting.push(resolve));
      await clock.advance(ms);
      await ended;
    },
    async status(token: string): Promise<number> {
      const response = await fetch(`${served.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] }),
      });
      await response.body?.cancel();
      return response.status;
    },
    async [Symbol.asyncDispose]() {
      await refresh.close();
      await served[Symbol.asyncDispose]();
      real.close();
    },
  };
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

Deno.test("no forged token is accepted over a socket, and none causes a request but one for keys", async () => {
  await using evil = startServer(() => new Response(setOf([STRANGER])));
  await using issuer = startServer(() => new Response(setOf([KEY])));
  await using gateway = await startGateway(`${issuer.url}/keys`);
  const claims = { iss: ISSUER, aud: "switchyard", sub: "eve", exp: EXP, groups: ["ai-admins"] };
  const pem = await exportSPKI(await importJWK(KEY.publicJwk, "RS256") as CryptoKey);
  const mac = (text: string) =>
    `${text}.${createHmac("sha256", pem).update(text).digest("base64url")}`;
  const valid = await KEY.sign({ exp: EXP });
  const nested = `{"iss":"${ISSUER}","a":${"[".repeat(2_500)}${"]".repeat(2_500)}}`;
  const forged = [
    ...["none", "None", "nOnE"].map((alg) => `${encode({ alg, kid: "k1" })}.${encode(claims)}.AA`),
    mac(`${encode({ alg: "HS256", kid: "k1" })}.${encode(claims)}`),
    mac(`${encode({ alg: "RS256", kid: "k1" })}.${encode(claims)}`),
    await STRANGER.sign(claims),
    await STRANGER.sign(claims, { jku: `${evil.url}/jku` }),
    await STRANGER.sign(claims, { x5u: `${evil.url}/x5u` }),
    await STRANGER.sign(claims, { jwk: STRANGER.publicJwk as never }),
    await STRANGER.sign(claims, { kid: "../../../../etc/passwd" }),
    await STRANGER.sign(claims, { kid: `${evil.url}/kid` }),
    await STRANGER.sign(claims, { kid: "x".repeat(1_400) }),
    await STRANGER.sign({ ...claims, iss: evil.url }),
    await KEY.sign({ exp: EXP, aud: "other" }),
    await KEY.sign({ exp: EXP, pad: "x".repeat(12_400) }),
    await KEY.sign({ exp: EXP }, { pad: "x".repeat(1_600) }),
    `${valid.split(".")[0]}.${Buffer.from(nested).toString("base64url")}.${valid.split(".")[2]}`,
    `${valid}.${valid}`,
    `${valid.slice(0, -4)}AAAA`,
  ];
  const statuses = await Promise.all(forged.map(gateway.status));
  for (const [at, status] of statuses.entries()) {
    assert(status === 401 || status === 503, `${forged[at]?.slice(0, 60)}: ${status}`);
  }
  assertEquals(await gateway.status(valid), 200);
  assertEquals(evil.paths, []);
  // The start, and one refresh for all unknown keys.
  assertEquals(issuer.paths, ["/keys", "/keys"]);
});

/** The size of an answer that is much too large. */
const HUGE_BYTES = 50 * 1024 * 1024;

Deno.test("an issuer whose key address lies, breaks off or sends 50 MB loses no valid token and admits no forged one", async () => {
  let sent = 0;
  await using evil = startServer(() => new Response(setOf([STRANGER])));
  const good = setOf([KEY]);
  const oct = { kty: "oct", k: encode("secret"), kid: "k1", alg: "HS256" };
  const lies: readonly (() => Response)[] = [
    () => new Response("<html><body>Sign in</body></html>"),
    () => new Response(null, { status: 302, headers: { location: `${evil.url}/keys` } }),
    () => new Response(JSON.stringify({ keys: [oct] })),
    () => new Response(gzipSync(good), { headers: { "content-encoding": "gzip" } }),
    () => new Response(good.slice(0, -20)),
    () => new Response(setOf([STRANGER]), { status: 500 }),
    () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode(good.slice(0, 99))),
          pull: (controller) => controller.error(new Error("breaks off")),
        }),
      ),
    () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            sent += 65_536;
            if (sent > HUGE_BYTES) controller.close();
            else controller.enqueue(new Uint8Array(65_536).fill(0x20));
          },
        }),
      ),
  ];
  let answer = () => new Response(good);
  await using issuer = startServer(() => answer());
  await using gateway = await startGateway(`${issuer.url}/keys`);
  const known = await KEY.sign({ exp: EXP });
  assertEquals(await gateway.status(known), 200);
  let waitMs = 16.5 * 60_000;
  for (const [at, lie] of lies.entries()) {
    answer = lie;
    await gateway.refreshed(waitMs);
    waitMs = 30_000;
    assertEquals(gateway.results.at(-1), false, `lie ${at}`);
    assertEquals(await gateway.status(known), 200);
    assertEquals(await gateway.status(await KEY.sign({ exp: EXP, jti: String(at) })), 200);
    assertEquals(await gateway.status(await STRANGER.sign({ exp: EXP })), 401);
  }
  assertEquals(evil.paths, []);
  assert(sent < HUGE_BYTES, String(sent));
});

Deno.test("while a key address hangs every request has its response, and the fetch ends after 10 s", async () => {
  let isHanging = false;
  let hanging = 0;
  const release = Promise.withResolvers<Response>();
  await using issuer = startServer(() => {
    if (!isHanging) return new Response(setOf([KEY]));
    hanging += 1;
    return release.promise;
  });
  {
    await using gateway = await startGateway(`${issuer.url}/keys`);
    const known = await KEY.sign({ exp: EXP });
    isHanging = true;
    // The fetch that this begins has no answer before the end of the test.
    assertEquals(await gateway.status(await STRANGER.sign({ exp: EXP }, { kid: "k9" })), 503);
    const statuses = await Promise.all([
      ...Array.from({ length: 20 }, () => gateway.status(known)),
      ...Array.from(
        { length: 20 },
        async (_, at) => gateway.status(await KEY.sign({ exp: EXP, jti: String(at) })),
      ),
    ]);
    assertEquals(new Set(statuses), new Set([200]));
    assertEquals(await gateway.status(await NEW_KEY.sign({ exp: EXP })), 503);
    assertEquals(await gateway.status("key-of-nightly"), 200);
    assertEquals(gateway.results, [true]);
    await gateway.refreshed(10_000);
    assertEquals([gateway.results, hanging], [[true, false], 1]);
  }
  release.resolve(new Response(""));
});

Deno.test("keys that change while requests run cost the new token one 503, and the old one its validity", async () => {
  let keys: Keys = [KEY];
  await using issuer = startServer(() => new Response(setOf(keys)));
  await using gateway = await startGateway(`${issuer.url}/keys`);
  const [old, next] = [await KEY.sign({ exp: EXP }), await NEW_KEY.sign({ exp: EXP })];
  const forged = await STRANGER.sign({ exp: EXP }, { kid: "k2" });
  const load = async (count: number) => {
    const statuses = { old: new Set<number>(), next: new Set<number>(), forged: new Set<number>() };
    await Promise.all(Array.from({ length: count }, async () => {
      statuses.old.add(await gateway.status(old));
      statuses.next.add(await gateway.status(next));
      statuses.forged.add(await gateway.status(forged));
    }));
    return statuses;
  };
  keys = [KEY, NEW_KEY];
  const during = await load(60);
  assertEquals(during.old, new Set([200]));
  assert([...during.next].every((status) => status === 200 || status === 503));
  assert([...during.forged].every((status) => status === 401 || status === 503));
  assertEquals((await load(10)).next, new Set([200]));
  keys = [NEW_KEY];
  await gateway.refreshed(16.5 * 60_000);
  const after = await load(60);
  assert(!after.old.has(200) && after.forged.size === 1 && after.forged.has(401));
  assertEquals(after.next, new Set([200]));
});
