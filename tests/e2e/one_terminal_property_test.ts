import fc from "fast-check";
import { isObject, parseJson } from "../../src/core/json/json.ts";
import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { callChat } from "./chat_call.ts";
import { delivered } from "./delivered.ts";
import { ANSWER_OUTCOMES, type Outcome, STREAM_OUTCOMES } from "./outcomes.ts";

/** A call, how the gateway is set up for it, and what becomes of each try. */
interface Plan {
  readonly stream: boolean;
  readonly store: boolean;
  readonly attempts: number;
  readonly targets: number;
  readonly noRetry: boolean;
  readonly noFallback: boolean;
  /** Failures that open a breaker; null if breakers are off. */
  readonly threshold: number | null;
  /** Place in the list of outcomes for each try; the last one is used for all later tries. */
  readonly outcomes: readonly number[];
}

const PLANS: fc.Arbitrary<Plan> = fc.record({
  stream: fc.boolean(),
  store: fc.boolean(),
  attempts: fc.integer({ min: 1, max: 3 }),
  targets: fc.integer({ min: 1, max: 3 }),
  noRetry: fc.boolean(),
  noFallback: fc.boolean(),
  // A breaker hides an attempt too many, so half of the runs have none.
  threshold: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 1 }),
  outcomes: fc.array(fc.nat(), { minLength: 1, maxLength: 10 }),
});

function configOf({ attempts, targets, threshold }: Plan): string {
  const names = Array.from({ length: targets }, (_, at) => `p${at}`);
  const [first = "", ...others] = names;
  const provider = (name: string) =>
    `  ${name}: {type: compat, base_url: "http://${name}.test", stream_idle_timeout: 5s}`;
  return `
providers:
${names.map(provider).join("\n")}
routing:
  routes:
    - name: main
      targets: [{provider: ${first}}]
      fallback: [${others.map((name) => `{provider: ${name}}`).join(", ")}]
retry: {max_attempts: ${attempts}}
circuit_breaker: {enabled: ${threshold !== null}, failure_threshold: ${threshold ?? 1}}
`;
}

interface Sent {
  readonly provider: string;
  readonly outcome: Outcome;
  readonly signal: AbortSignal;
}

/** Runs one call to its end, however long its waits are. */
async function run(plan: Plan) {
  const possible = plan.stream ? STREAM_OUTCOMES : ANSWER_OUTCOMES;
  const sent: Sent[] = [];
  const world = scriptedWorld({
    isInProcess: true,
    fetch(url, { signal }) {
      const number = plan.outcomes[Math.min(sent.length, plan.outcomes.length - 1)] ?? 0;
      const outcome = possible[number % possible.length];
      assert(outcome !== undefined && signal instanceof AbortSignal);
      sent.push({ provider: new URL(url).hostname.replace(".test", ""), outcome, signal });
      return outcome.answer(signal);
    },
  });
  const gateway = testGateway(configOf(plan), world);
  let answer: { readonly status: number; readonly text: string } | null = null;
  const fields = { stream: plan.stream, ...plan.store && { store: true } };
  const ended = callChat(gateway, fields, {
    "x-gateway-no-retry": String(plan.noRetry),
    "x-gateway-no-fallback": String(plan.noFallback),
  }).then(async ({ status, body }) => {
    answer = { status, text: await new Response(body).text() };
  });
  for (let round = 0; round < 40 && gateway.reports.length === 0; round++) {
    await world.advance(60_000);
  }
  const report = await gateway.reported(1);
  await ended;
  assert(answer !== null);
  const { status, text }: { readonly status: number; readonly text: string } = answer;
  return { sent, status, text, report, reports: gateway.reports, world };
}

function hold(
  { sent, status, text, report, reports, world }: Awaited<ReturnType<typeof run>>,
  plan: Plan,
) {
  const attempts = plan.noRetry ? 1 : plan.attempts;
  const targets = plan.noFallback ? 1 : plan.targets;
  const providers = Array.from({ length: targets }, (_, at) => `p${at}`);

  // Target by target in order, each at most so often; a silent one again after all others.
  const tried = sent.map(({ provider }) => provider);
  const inOrder = [...new Set(tried)];
  assertEquals(inOrder.toSorted(), inOrder);
  const returned = tried.findIndex((provider, at) =>
    tried[at - 1] !== provider && tried.indexOf(provider) < at
  );
  if (returned >= 0) {
    assertEquals(new Set(tried.slice(0, returned)).size, inOrder.length);
    const before = sent.slice(0, returned).findLast(({ provider }) => provider === tried[returned]);
    assertEquals(before?.outcome.reported, "upstream_timeout");
  }
  for (const provider of tried) assert(providers.includes(provider), provider);
  for (const provider of providers) {
    assert(tried.filter((name) => name === provider).length <= attempts);
  }

  // The report lists each attempt that was sent, and marks those that an open breaker prevented.
  const made = report.attempts.filter(({ outcome }) => outcome !== "circuit_open");
  const logged = made.map(({ provider, outcome }) => ({ provider, outcome }));
  assertEquals(
    logged,
    sent.map(({ provider, outcome }) => ({ provider, outcome: outcome.reported })),
  );

  const last = report.attempts.at(-1);
  assert(last !== undefined);
  // After a rejection by a candidate, the failure is that of the first one.
  const isRejected = sent.some(({ outcome }) => outcome.reported === "upstream_rejected");
  const shown = last.outcome !== "success" && isRejected ? sent[0] : last;
  assertEquals(report.provider, shown?.provider);
  const earlier = last.outcome === "circuit_open" ? sent : sent.slice(0, -1);
  for (const { outcome, provider } of earlier) {
    assert(outcome.reported !== "success", "what was delivered is final");
    const isFirst = provider === sent[0]?.provider;
    assert(
      !isFirst || outcome.reported !== "upstream_rejected",
      "a mistake of the client stays one",
    );
    if (plan.store) assert(outcome.isUntaken, `sent again after: ${outcome.name}`);
  }

  // One answer, and its status is that of the report.
  assertEquals(reports.length, 1);
  assertEquals(report.status, status);
  const isDelivered = last.outcome === "success";
  assertEquals(status === 200, isDelivered, text);
  const breaks = isDelivered && sent.at(-1)?.outcome.breaks === true;
  assertEquals(endOf(report) === "complete", isDelivered && !breaks);
  if (isDelivered && plan.stream) {
    assertEquals(delivered(text).ending, breaks ? "broken" : "complete");
  } else {
    const value = parseJson(text);
    assert(isObject(value), text);
    assertEquals(isObject(value.error), !isDelivered);
  }

  // Nothing is left behind: no clock runs, and a hanging upstream has been cancelled.
  assertEquals(world.waiting, 0);
  for (const { outcome, signal } of sent) {
    if (/hang/.test(outcome.name)) assert(signal.aborted, outcome.name);
  }
}

Deno.test("whatever upstreams send, a call stays within its attempt limits and ends once", async () => {
  await fc.assert(
    fc.asyncProperty(PLANS, async (plan) => hold(await run(plan), plan)),
    { numRuns: 250 },
  );
});

Deno.test("whatever a single upstream sends, a call ends once", async () => {
  for (const stream of [false, true]) {
    const count = (stream ? STREAM_OUTCOMES : ANSWER_OUTCOMES).length;
    for (let number = 0; number < count; number++) {
      for (const store of [false, true]) {
        const base = { stream, store, attempts: 2, targets: 2, threshold: null };
        const plan = { ...base, noRetry: false, noFallback: false, outcomes: [number] };
        hold(await run(plan), plan);
      }
    }
  }
});
