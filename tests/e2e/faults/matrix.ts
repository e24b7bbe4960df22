import { type CallReport, endOf } from "../../../src/observe/report.ts";
import type { Incoming } from "../../../src/core/world.ts";
import { readResponsesStream } from "../../../scripts/soak/answers/responses.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { type SocketGateway, socketGateway } from "../../support/socket_gateway.ts";
import { scriptedWorld } from "../../support/world.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { answerOf, bodyOf } from "./bodies.ts";
import type { Break } from "./break.ts";
import { type Column, configFor, EARLY_HEAD_MS, type Mode, TEXT } from "./columns.ts";
import { newHealthyUpstream } from "./healthy.ts";
import { begun, brokenBytes, codeOf, look, refusedBefore, type Seen } from "./look.ts";

/** Outcome of one call. */
export interface Outcome {
  readonly seen: Seen;
  readonly report: Readonly<CallReport>;
  /** Hosts of the requests that were sent, in order. */
  readonly sentCount: number;
  readonly end: string;
}

/** A gateway before an upstream that breaks, with a clock that the matrix moves. */
export interface BreakingGateway extends AsyncDisposable {
  /** Runs a call whose upstream breaks in each of the first `brokenCount` attempts. */
  run(broken: Break | null, brokenCount: number): Promise<Outcome>;
}

interface Plan {
  readonly broken: Break | null;
  readonly brokenCount: number;
  sent: number;
  /** True while only time can end the attempt. */
  isSilent: boolean;
}

/**
 * Milliseconds that pass between two looks at a call: enough for a delay before a retry, or, if its
 * upstream is silent, for a timeout after a few looks.
 */
const STEP_MS = 20, SILENT_STEP_MS = 2_000;

const MAX_LOOKS = 5_000;

/** Opens a gateway for one kind of call, whose route does this with streams. */
export function newBreakingGateway(column: Column, mode: Mode | null = null): BreakingGateway {
  const config = configFor(mode);
  let plan: Plan = { broken: null, brokenCount: 0, sent: 0, isSilent: false };
  const healthy = newHealthyUpstream(column.isStateful);

  async function fetch(url: string, init: RequestInit): Promise<Incoming> {
    const current = plan;
    const { signal, method = "POST", headers = {}, body } = init;
    assert(signal instanceof AbortSignal);
    const sent = { method, headers, body: await new Response(body ?? null).text() };
    const whole = () => healthy(url, sent);
    const isBroken = ++current.sent <= current.brokenCount;
    current.isSilent = false;
    if (mode === "early" && current.sent === 1) {
      current.isSilent = true;
      await new Promise<void>((resolve) => void world.after(EARLY_HEAD_MS + 1, resolve));
      current.isSilent = false;
    }
    if (isBroken && current.broken !== null) {
      const fallSilent = () => void (current.isSilent = true);
      const pause = (ms: number) => {
        current.isSilent = true;
        return new Promise<void>((resolve) => world.after(ms, resolve));
      };
      return await current.broken.answer({ column, signal, whole, fallSilent, pause });
    }
    const response = await whole();
    return answerOf(bodyOf([await response.bytes()], "close", { signal }), response);
  }

  const isSocket = column.delivery === "WebSocket";
  const world = scriptedWorld({ fetch, isInProcess: !isSocket });
  const served = isSocket ? socketGateway(config, { world }) : null;
  const gateway = served === null ? testGateway(config, world, {}) : null;

  const inTime: InTime = async (promise) => {
    let isOver = false;
    const over = promise.finally(() => isOver = true);
    over.catch(() => {});
    for (let look = 0; !isOver; look++) {
      assert(look < MAX_LOOKS, "the call does not end");
      await world.advance(plan.isSilent ? SILENT_STEP_MS : STEP_MS);
    }
    return await over;
  };

  async function call() {
    if (served !== null) return await runTurn(served, inTime, column);
    assert(gateway !== null);
    return await runCall(gateway, inTime, column);
  }

  return {
    async run(broken, brokenCount) {
      const running: Plan = { broken, brokenCount, sent: 0, isSilent: false };
      plan = running;
      const { seen, report } = await call();
      return { seen, report, sentCount: running.sent, end: endOf(report) };
    },
    async [Symbol.asyncDispose]() {
      await served?.[Symbol.asyncDispose]();
    },
  };
}

/** Lets time pass until a promise is settled. */
export type InTime = <T>(promise: Promise<T>) => Promise<T>;

async function runCall(gateway: TestGateway, inTime: InTime, column: Column) {
  const count = gateway.reports.length + 1;
  const request = new Request(`http://localhost${column.path}`, {
    method: "POST",
    body: JSON.stringify(column.body),
  });
  const seen = await inTime(gateway.app(request).then((response) => look(column, response)));
  const report = await inTime(gateway.reported(count));
  assertEquals(gateway.reports.length, count);
  assertEquals(report.status, seen.status);
  return { seen, report };
}

/** Runs a call over HTTP on a gateway that listens. */
export async function runHttp(served: SocketGateway, inTime: InTime, column: Column) {
  using client = Deno.createHttpClient({});
  const count = served.reports.length + 1;
  const { path, body } = column;
  const request = { method: "POST", body: JSON.stringify(body), client };
  const seen = await inTime(
    fetch(`${served.url}${path}`, request).then(
      (response) => look(column, response),
      (error) => {
        if (column.delivery !== "bytes") throw error;
        return brokenBytes("");
      },
    ),
  );
  return { seen, report: await inTime(served.reported(count)) };
}

/** Runs a call over a WebSocket. */
export async function runTurn(served: SocketGateway, inTime: InTime, { body }: Column) {
  const client = await inTime(served.open());
  // The handshake is a call too.
  const count = served.reports.length + 1;
  const { events, end, error } = await inTime(client.turn(body));
  const report = await inTime(served.reported(count));
  await inTime(client.close());
  assertEquals(served.reports.length, count);
  if (end.type === "error" && events.length === 1) {
    return { seen: refusedBefore(end.status, error), report };
  }
  const answer = readResponsesStream(events);
  const isComplete = end.type === "response.completed";
  const code = end.type === "error" ? codeOf(error) : String(answer.error);
  const failures = isComplete ? 0 : 1;
  return { seen: begun({ error: code, isComplete, failures, content: answer.text }), report };
}

/** Throws unless an outcome keeps the promises of every call. */
export function checkOutcome(column: Column, broken: Break, outcome: Outcome, whole: Seen): void {
  const { seen, report, sentCount } = outcome;
  const where = `${column.call} over ${column.type}: ${broken.name}, ${broken.phase}: ${seen.text}`;
  // Exactly one failure, or a complete answer.
  assertEquals(seen.failures, seen.isComplete ? 0 : 1, where);
  if (column.format !== null) {
    // No answer twice: what the client has is the answer, or its beginning.
    if (seen.isComplete) assertEquals(seen.content, TEXT, where);
    assert(TEXT.startsWith(seen.content), `${where}: ${seen.content}`);
  } else if (column.delivery === "stream" || column.delivery === "bytes") {
    assert(whole.content.startsWith(seen.content), where);
  }
  // Sent again only before anything was delivered, and only if the provider cannot have begun it.
  assertEquals(report.attempts.length, sentCount, where);
  const isDelivered = seen.isComplete || seen.content !== "";
  if (isDelivered) {
    assertEquals(report.attempts.slice(0, -1).some(({ outcome }) => outcome === "success"), false);
  }
  assert(sentCount >= 1 && sentCount <= 4, where);
  if (column.isStateful && !broken.isUntaken) assertEquals(sentCount, 1, where);
}
