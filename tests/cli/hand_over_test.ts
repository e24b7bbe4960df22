import { newHandOver } from "../../src/cli/hand_over.ts";
import { compile, compileCredentials } from "../../src/gateway/compile.ts";
import { newLog } from "../../src/observe/log.ts";
import type { Handed } from "../../src/workers/handed.ts";
import { configOf } from "../config/parse.ts";
import { credentialConfig, ENTRA, issue } from "../credentials/credential_gateway.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { KEYS_URL, newSigningKey, tokenSecurity } from "../support/token_issuer.ts";
import { scriptedWorld } from "../support/world.ts";

const KEY = await newSigningKey("k1");
const SOURCE = `url ${KEYS_URL}`;

/** A parent of workers over a network with one token endpoint and one issuer. */
function parent() {
  const handed: Handed[] = [];
  const counted: string[] = [];
  const tokens = [Promise.withResolvers<Response>(), Promise.withResolvers<Response>()];
  const keys = [Promise.withResolvers<Response>(), Promise.withResolvers<Response>()];
  let [tokenFetches, keyFetches] = [0, 0];
  let keysArrived = Promise.withResolvers<void>();
  const world = scriptedWorld({
    fetch: (url) => {
      const answer = url === KEYS_URL ? keys[keyFetches++] : tokens[tokenFetches++];
      return answer?.promise ?? Promise.reject(new Error("no more"));
    },
  });
  const config = configOf(credentialConfig(ENTRA, { more: tokenSecurity() }));
  const handOver = newHandOver({
    world,
    log: newLog({ level: "error", format: "json" }, () => {}),
    variable: () => undefined,
    credentialRefreshed: (provider, result) => void counted.push(`${provider} ${result}`),
    keysRefreshed: (issuer, result) => void counted.push(`${issuer} ${result}`),
    hand(one) {
      handed.push(one);
      if (one.kind !== "keys") return;
      keysArrived.resolve();
      keysArrived = Promise.withResolvers();
    },
  });
  return {
    world,
    config,
    handOver,
    handed,
    counted,
    /** Resolves with the next keys that are handed over: they are imported in real time. */
    keysArrive: () => keysArrived.promise,
    /** Ends a fetch of a token, and one of the keys, with its number from 0. */
    issueToken: (at: number) => tokens[at]?.resolve(issue(`t${at}`)),
    sendKeys: (at: number) =>
      keys[at]?.resolve(new Response(JSON.stringify({ keys: [KEY.publicJwk] }))),
    failKeys: (at: number) => keys[at]?.resolve(new Response(null, { status: 500 })),
  };
}

/** Returns the objects that were handed over: the kind, and the token or the names of keys. */
function shown(handed: readonly (Handed | null)[]): unknown[] {
  return handed.map((one) => {
    if (one?.kind === "keys") return [one.keys?.map(({ kid }) => kid) ?? null, one.ageMs];
    if (one?.kind !== "credential") return one?.kind ?? null;
    const secret = one.update.issued?.secret;
    return secret?.kind === "token" ? secret.token : null;
  });
}

Deno.test("a worker that starts has what was fetched so far, and a new credential only once its first refresh has ended", async () => {
  const { world, config, handOver, handed, counted, issueToken, sendKeys } = parent();
  const first = compile(config, 1).credentials;
  const applied = handOver.apply(config, first);
  await world.advance(0);
  assertEquals([handOver.all(), shown(handed)], [[], ["keys_begin"]]);
  issueToken(0);
  sendKeys(0);
  await applied;
  await world.advance(1_000);
  assertEquals(shown(handOver.all()), ["t0", [["k1"], 1_000]]);
  assertEquals(shown(handed).toSorted(), ["t0", "keys_begin", [["k1"], 0]].toSorted());
  assertEquals(counted.toSorted(), ["corp success", "up success"]);
  // After a reload without the issuer and with another credential, neither is handed over.
  handed.length = 0;
  const other = configOf(credentialConfig(ENTRA.replace("client_id: c", "client_id: d")));
  await handOver.apply(other, compileCredentials(other, first));
  assertEquals([handOver.all(), handed], [[], []]);
  await handOver.close();
});

Deno.test("keys that could not be refreshed are handed over as the last good ones of a refresh that failed", async () => {
  const { config, handOver, handed, keysArrive, issueToken, sendKeys, failKeys } = parent();
  issueToken(0);
  sendKeys(0);
  await handOver.apply(config, compile(config, 1).credentials);
  const arrived = keysArrive();
  await handOver.demand({ of: "keys", source: SOURCE });
  failKeys(1);
  await arrived;
  const keys = handed.filter((one) => one.kind === "keys");
  assertEquals(shown(keys), [[["k1"], 0], [["k1"], 0]]);
  assertEquals(keys.map(({ isFailing }) => isFailing), [false, true]);
  assertEquals(handOver.all().map((one) => one.kind === "keys" && one.isFailing), [false, true]);
  await handOver.close();
});

Deno.test("a demanded credential is refreshed for the worker that waits for it, and demanded keys are handed to all", async () => {
  const { world, config, handOver, handed, keysArrive, issueToken, sendKeys } = parent();
  issueToken(0);
  sendKeys(0);
  const { credentials } = compile(config, 1);
  await handOver.apply(config, credentials);
  await world.advance(0);
  const [id] = credentials.keys();
  assert(id !== undefined);
  handed.length = 0;
  const renewed = handOver.demand({ of: "credential", id });
  issueToken(1);
  assertEquals(shown([await renewed]), ["t1"]);
  assertEquals(shown(handed), ["t1"]);
  // A call that began before a reload waits for no credential that is gone.
  assertEquals(await handOver.demand({ of: "credential", id: "gone" }), {
    kind: "credential",
    id: "gone",
    update: { issued: null, isFailing: true, nextMs: null },
  });
  handed.length = 0;
  const keys = { of: "keys", source: SOURCE } as const;
  assertEquals([await handOver.demand(keys), await handOver.demand(keys)], [null, null]);
  const arrived = keysArrive();
  sendKeys(1);
  await arrived;
  assertEquals(shown(handed), ["keys_begin", [["k1"], 0]]);
  // The second fetch was just now, so its keys are the response to this demand.
  assertEquals(shown([await handOver.demand(keys)]), [[["k1"], 0]]);
  await handOver.close();
});
