import type { CallReport } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { type Column, COLUMNS, type ProviderType, TEXT } from "./faults/columns.ts";
import { newHealthyUpstream } from "./faults/healthy.ts";
import { look, type Seen } from "./faults/look.ts";
import { type InTime, runTurn } from "./faults/matrix.ts";
import {
  type SentRequest,
  type Situation,
  SITUATIONS,
  TOO_LONG_WITHIN,
  type Verdict,
} from "./failover/situations.ts";

/** Settings of a gateway, by the name of their column in the table. */
interface Settings {
  readonly name: string;
  readonly provider?: Readonly<Record<string, string>>;
  readonly route?: Readonly<Record<string, unknown>>;
}

const SETTINGS: readonly Settings[] = [
  { name: "default" },
  { name: "first_content", provider: { first_content_timeout: "15s" } },
  {
    name: "all",
    provider: { first_content_timeout: "15s" },
    route: { fallback_on: ["outage", "context_length", "content_filter"], hold: "5m" },
  },
];

/** Streams of the four client APIs over each provider type; Responses are not stored. */
const CALLS: readonly Column[] = COLUMNS.filter(({ delivery, format }) =>
  format !== null && (delivery === "stream" || delivery === "WebSocket")
).map((column) =>
  column.format === "responses" ? { ...column, body: { ...column.body, store: false } } : column
).map((column) => ({ ...column, isStateful: false }));

const PATHS: Readonly<Record<ProviderType, string>> = {
  compat: "/compat/v1",
  messages: "/messages",
  local: "/local",
  native: "/compat/v1",
};

const HOSTS = ["first", "second", "third"] as const;

const healthyUpstream = newHealthyUpstream(false);

function configOf({ type, body }: Column, { provider = {}, route = {} }: Settings): string {
  const target = (id: string) => ({
    provider: id,
    model: id === "first" ? body.model : `claude-${id}`,
    ...type === "native" ? { upstream_request_type: "responses" } : {},
  });
  return JSON.stringify({
    providers: Object.fromEntries(HOSTS.map((host) => [host, {
      type: type === "native" ? "compat" : type,
      base_url: `http://${host}.test${PATHS[type]}`,
      api_key: "any",
      timeout: "30s",
      stream_idle_timeout: "20s",
      ...provider,
    }])),
    routing: {
      routes: [{
        name: "r",
        targets: [target("first")],
        fallback: [target("second"), target("third")],
        ...route,
      }],
    },
    retry: { max_attempts: 3, initial_delay: "100ms" },
  });
}

/** Milliseconds that pass between two looks at a call, and after which an answer is late. */
const STEP_MS = 500, LATE_MS = 60_000;

/** One call of a run. */
interface Ran {
  readonly seen: Seen;
  readonly report: Readonly<CallReport>;
  readonly verdict: Verdict | "failed";
}

/** Runs a situation on a new gateway. Without one, every provider is healthy. */
async function run(
  situation: Situation | null,
  column: Column,
  settings: Settings,
): Promise<readonly Ran[]> {
  const numbers = new Map<string, number>();
  const world = scriptedWorld({
    isInProcess: column.delivery !== "WebSocket",
    async fetch(url, { method = "POST", headers = {}, body, signal }) {
      const host = HOSTS.find((one) => url.startsWith(`http://${one}.test`));
      assert(host !== undefined && signal instanceof AbortSignal);
      const number = (numbers.get(host) ?? 0) + 1;
      numbers.set(host, number);
      const sent = { method, headers, body: await new Response(body ?? null).text() };
      const request: SentRequest = {
        column,
        host,
        number,
        signal,
        async healthy() {
          const response = await healthyUpstream(url, sent);
          return new Response(new Blob([await response.bytes()]).stream(), response);
        },
        pause: (ms) => new Promise<void>((resolve) => void world.after(ms, resolve)),
      };
      return await (situation?.answer(request) ?? request.healthy());
    },
  });
  const inTime: InTime = async (promise) => {
    let isOver = false;
    const over = promise.finally(() => isOver = true);
    over.catch(() => {});
    for (let looks = 0; !isOver; looks++) {
      assert(looks < 2_000, "the call does not end");
      await world.advance(STEP_MS);
    }
    return await over;
  };
  const config = configOf(column, settings);
  await using served = column.delivery === "WebSocket" ? socketGateway(config, { world }) : null;
  const gateway = served === null ? testGateway(config, world, {}) : null;

  async function call() {
    if (served !== null) return await runTurn(served, inTime, column);
    assert(gateway !== null);
    const count = gateway.reports.length + 1;
    const request = new Request(`http://localhost${column.path}`, {
      method: "POST",
      body: JSON.stringify(column.body),
    });
    const seen = await inTime(gateway.app(request).then((response) => look(column, response)));
    return { seen, report: await inTime(gateway.reported(count)) };
  }

  const ran: Ran[] = [];
  for (let at = 0; at < (situation?.calls ?? 1); at++) {
    const { seen, report } = await call();
    ran.push({ seen, report, verdict: verdictOf(seen, report) });
  }
  return ran;
}

function verdictOf(seen: Seen, report: Readonly<CallReport>): Verdict | "failed" {
  if (seen.isComplete && seen.content === TEXT && seen.failures === 0) {
    return report.ms.total > LATE_MS ? "late" : "passed";
  }
  const isReported = !seen.isComplete && seen.failures === 1 && TEXT.startsWith(seen.content);
  return isReported ? "told" : "failed";
}

/** A provider type for each client API. */
const OWN_TYPES = { chat: "compat", messages: "messages", responses: "local" } as const;

/**
 * Returns the situations of a kind of call that its provider type can have. A time until the first
 * content changes one of them: all are then run over one provider type for each client API.
 */
function situationsOf({ format, type }: Column, { name }: Settings): readonly Situation[] {
  const possible = SITUATIONS.filter(({ types }) => types?.includes(type) !== false);
  const runsAll = name !== "first_content" || type === OWN_TYPES[format ?? "chat"];
  return runsAll ? possible : possible.filter((one) => one.with?.[name] !== undefined);
}

/** Returns the verdicts of a kind of call in its situations. */
async function verdicts(column: Column, settings: Settings): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const situation of situationsOf(column, settings)) {
    const ran = await run(situation, column, settings);
    found[situation.name] = [...new Set(ran.map(({ verdict }) => verdict))].join(", ");
    // No attempt follows one that has delivered something.
    for (const { report: { attempts } } of ran) {
      assertEquals(attempts.slice(0, -1).filter(({ outcome }) => outcome === "success"), []);
    }
  }
  return found;
}

for (const settings of SETTINGS) {
  Deno.test(`each of sixteen situations has its verdict in every kind of call, settings: ${settings.name}`, async () => {
    for (const column of CALLS) {
      const expected = Object.fromEntries(
        situationsOf(column, settings)
          .map((one) => [one.name, one.with?.[settings.name] ?? one.seen]),
      );
      const what = `${column.call} over ${column.type}`;
      assertEquals({ what, ...await verdicts(column, settings) }, { what, ...expected });
    }
  });
}

Deno.test("eleven of the sixteen situations pass by default, twelve with first_content_timeout, all with hold and content_filter", () => {
  assertEquals(SITUATIONS.length, 16);
  const passed = (name: string) =>
    SITUATIONS.filter((one) => (one.with?.[name] ?? one.seen) === "passed").length;
  assertEquals(SETTINGS.map(({ name }) => passed(name)), [11, 12, 16]);
});

Deno.test("a prompt that is too long falls back within a stream too, once and over every wire", async () => {
  for (const column of CALLS.filter(({ type }) => TOO_LONG_WITHIN.types?.includes(type))) {
    const [ran] = await run(TOO_LONG_WITHIN, column, { name: "default" });
    const tried = ran?.report.attempts.map(({ outcome }) => outcome);
    const what = `${column.call} over ${column.type}`;
    assertEquals([ran?.verdict, tried], ["passed", ["context_length_exceeded", "success"]], what);
  }
});

Deno.test("a call that was retried counts the tokens of its answer once", async () => {
  const situation = SITUATIONS.find(({ name }) => name === "accounting");
  assert(situation !== undefined);
  for (const column of CALLS.filter(({ type }) => situation.types?.includes(type))) {
    const [settings] = SETTINGS;
    assert(settings !== undefined);
    const [healthy] = await run(null, column, settings);
    const [retried] = await run(situation, column, settings);
    assert(healthy?.report.usage != null, `${column.call} over ${column.type}`);
    assertEquals(retried?.report.usage, healthy.report.usage);
    assertEquals(retried?.report.attempts.map(({ outcome }) => outcome), [
      "upstream_unreachable",
      "success",
    ]);
  }
});
