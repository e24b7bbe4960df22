import fc from "fast-check";
import { ConnectionError } from "../../src/core/failure/connection_error.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, type Got, got } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

/**
 * How a provider behaves: responds, fails with a status, says nothing until it is cancelled, makes
 * no connection in time, or finds the prompt too long.
 */
type Behaviour = 200 | 400 | 503 | "silent" | "unconnected" | "too long";

interface Setting {
  readonly targets: readonly Behaviour[];
  readonly fallback?: readonly Behaviour[];
  readonly strategy?: string;
  readonly maxAttempts?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Record<string, boolean>;
  /** Further settings of each provider. */
  readonly provider?: string;
}

interface Seen {
  readonly answer: Got;
  /** The providers that were called with the time of each call, such as `t0 0`. */
  readonly calls: readonly string[];
}

const TIMEOUT_MS = 10_000;

/** Sends calls to a gateway whose targets `t0`, `t1`, … and fallbacks `f0`, … behave so. */
async function send(setting: Setting, count = 1): Promise<readonly Seen[]> {
  const { targets, fallback = [], strategy = "weighted", maxAttempts = 1, provider = "" } = setting;
  const behaviours = new Map<string, Behaviour>([
    ...targets.map((one, at) => [`t${at}`, one] as const),
    ...fallback.map((one, at) => [`f${at}`, one] as const),
  ]);
  let calls: string[] = [];
  const world = scriptedWorld({
    fetch(url, { signal }) {
      const { hostname } = new URL(url);
      calls.push(`${hostname} ${world.now()}`);
      const behaviour = behaviours.get(hostname);
      if (behaviour === "too long") {
        return answers(400, { error: { message: "No.", code: "context_length_exceeded" } });
      }
      if (behaviour === "unconnected") {
        const progress = { mayHaveRun: false, isAnswered: false };
        return Promise.reject(new ConnectionError("timeout", "It said nothing.", progress));
      }
      if (behaviour !== "silent") return answers(behaviour ?? 500, COMPLETION);
      return new Promise((_resolve, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason))
      );
    },
  });
  const named = (prefix: string) =>
    [...behaviours.keys()].filter((id) => id.startsWith(prefix))
      .map((id) => `{provider: ${id}, model: m}`).join(", ");
  const gateway = testGateway(
    `
providers:
${
      [...behaviours.keys()].map((id) =>
        `  ${id}: {type: compat, base_url: "http://${id}", timeout: ${TIMEOUT_MS}ms${provider}}`
      ).join("\n")
    }
routing:
  routes: [{name: r, strategy: ${strategy}, targets: [${named("t")}], fallback: [${named("f")}]}]
retry: {max_attempts: ${maxAttempts}, initial_delay: 1s, jitter_factor: 0}
circuit_breaker: {enabled: false}
`,
    world,
  );
  const seen: Seen[] = [];
  for (let at = 0; at < count; at++) {
    calls = [];
    const { headers = {}, body = {} } = setting;
    const waiting = gateway.app(chatRequest({ headers, body }));
    let isOver = false;
    waiting.then(() => isOver = true);
    do await world.advance(TIMEOUT_MS / 4); while (!isOver);
    seen.push({ answer: await got(await waiting), calls });
  }
  return seen;
}

const namesOf = ({ calls }: Seen) => calls.map((call) => call.split(" ")[0] ?? "");

const STRATEGIES = [
  "weighted",
  "round-robin",
  "random",
  "least-pending",
  "lowest-latency",
  "sticky",
];

for (const strategy of STRATEGIES) {
  Deno.test(`with one of three targets dead every call of a ${strategy} route is answered`, async () => {
    for (const targets of [[503, 200, 200], [200, "silent", 200], [200, 200, 503]] as const) {
      const seen = await send({ targets, strategy }, 6);
      assertEquals(seen.map(({ answer }) => answer.status), [200, 200, 200, 200, 200, 200]);
    }
  });
}

Deno.test("the other targets of a route come before its fallbacks, and none twice", async () => {
  const [seen] = await send({ targets: [503, 503, 503], fallback: [503, 200] });
  assert(seen !== undefined);
  assertEquals(namesOf(seen).slice(0, 3).toSorted(), ["t0", "t1", "t2"]);
  assertEquals(namesOf(seen).slice(3), ["f0", "f1"]);
  assertEquals(seen.answer.headers.get("x-gateway-provider"), "f1");
});

Deno.test("the shares of a weighted route stay exact while no target fails", async () => {
  const seen = await send({ targets: [200, 200] }, 8);
  const first = seen.flatMap(namesOf).filter((name) => name === "t0");
  assertEquals([seen.flatMap(namesOf).length, first.length], [8, 4]);
});

Deno.test("X-Gateway-No-Fallback stops at the picked target", async () => {
  const headers = { "x-gateway-no-fallback": "true" };
  const seen = await send({ targets: [503, 503], fallback: [200], headers }, 2);
  assertEquals(seen.map((one) => [one.answer.status, namesOf(one).length]), [[503, 1], [503, 1]]);
});

Deno.test("a rejected request goes to no other target", async () => {
  const [seen] = await send({ targets: [400, 400] });
  assertEquals([seen?.answer.status, seen?.calls.length], [400, 1]);
});

Deno.test("a silent target is passed over at once, and retried when no other is left", async () => {
  const [rescued] = await send({ targets: ["silent"], fallback: [200], maxAttempts: 3 });
  assertEquals([rescued?.answer.status, rescued?.calls], [200, ["t0 0", "f0 10000"]]);
  const [failed] = await send({ targets: ["silent"], fallback: ["silent"], maxAttempts: 3 });
  assertEquals(failed?.answer.status, 504);
  assertEquals(failed?.calls, [
    "t0 0",
    "f0 10000",
    "f0 21000",
    "f0 33000",
    "t0 43000",
    "t0 55000",
  ]);
});

Deno.test("a target that makes no connection in time is passed over like a silent one", async () => {
  const [rescued] = await send({ targets: ["unconnected"], fallback: [200], maxAttempts: 3 });
  assertEquals([rescued?.answer.status, rescued?.calls], [200, ["t0 0", "f0 0"]]);
});

Deno.test("a lone silent target is retried after its delays, as without other targets", async () => {
  const [seen] = await send({ targets: ["silent"], maxAttempts: 3 });
  assertEquals(seen?.calls, ["t0 0", "t0 11000", "t0 23000"]);
});

Deno.test("a request with side effects that may have run goes to no other target", async () => {
  const provider = ", capabilities: {chat_completions_lifecycle: true}";
  const body = { store: true };
  const [silent] = await send({ targets: ["silent", 200], provider, body });
  assertEquals([silent?.answer.status, silent?.calls.length], [504, 1]);
});

const behaviours = fc.constantFrom<Behaviour>(200, 503, "silent", 400, "too long");

Deno.test("no target is called more often than max_attempts, and a silent one again only after all others", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(behaviours, { minLength: 1, maxLength: 3 }),
      fc.array(behaviours, { maxLength: 2 }),
      fc.integer({ min: 1, max: 2 }),
      async (targets, fallback, maxAttempts) => {
        const [seen] = await send({ targets, fallback, maxAttempts });
        assert(seen !== undefined);
        const names = namesOf(seen);
        const all = [
          ...targets.map((_one, at) => `t${at}`),
          ...fallback.map((_one, at) => `f${at}`),
        ];
        const behaviour = (name: string) =>
          (name.startsWith("t") ? targets : fallback)[Number(name.slice(1))];
        const last = names.at(-1) ?? "";
        const firstName = names[0] ?? "";
        // A response ends the call, and a rejection by the first candidate; until then every
        // candidate is called. The client sees the last failure, or that of the first candidate
        // if one of them has rejected the request.
        const isEnded = behaviour(last) === 200 || behaviour(firstName) === 400;
        const isRejected = names.some((name) =>
          behaviour(name) === 400 || behaviour(name) === "too long"
        );
        const shown = behaviour(!isEnded && isRejected ? firstName : last);
        const status = shown === "silent" ? 504 : shown === "too long" ? 400 : shown;
        assertEquals(seen.answer.status, status);
        // All have the same model, so a prompt that is too long for one of them ends the call.
        const isTooLong = names.some((name) => behaviour(name) === "too long");
        if (isTooLong) assertEquals(behaviour(last), "too long");
        if (!isEnded && !isTooLong) assertEquals(new Set(names).size, all.length);
        for (const name of all) {
          const places = names.flatMap((one, at) => one === name ? [at] : []);
          assert(places.length <= maxAttempts);
          const [, again] = places;
          if (behaviour(name) === "silent" && again !== undefined) {
            assertEquals(new Set(names.slice(0, again)).size, all.length);
          }
        }
        const firstFallback = names.findIndex((name) => name.startsWith("f"));
        if (firstFallback >= 0) {
          assertEquals(new Set(names.slice(0, firstFallback)).size, targets.length);
        }
      },
    ),
    { numRuns: 40 },
  );
});
