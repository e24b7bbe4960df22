import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import type { World } from "../../../src/core/world.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { testGateway } from "../../support/gateway.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { scriptedWorld } from "../../support/world.ts";
import { type Column, COLUMNS } from "./columns.ts";
import { newHealthyUpstream } from "./healthy.ts";
import { type LeavingClient, newHttpClient, newTurnClient } from "./leaving_client.ts";
import { LEAVING_CONFIG, type Moment, MOMENTS } from "./moments.ts";

/** Entry of the page: a client that leaves at one moment in one kind of call. */
export interface Leave {
  readonly column: Column;
  readonly moment: string;
  /** Events at the upstream: no request, the cancellation, or a whole response. */
  readonly upstream: string;
  readonly status: number;
  /** Outcome of each attempt in `tries`, without the provider; empty without an attempt. */
  readonly tried: string;
  readonly end: string;
}

/** Longer than every timeout and delay of the configuration, in milliseconds. */
const LONG_MS = 120_000;

const MAX_LOOKS = 5_000;

/** Runs every kind of call with a client that leaves at each moment, the kinds side by side. */
export async function runLeaves(): Promise<readonly Leave[]> {
  const runs = await Promise.all(COLUMNS.map(async (column) => {
    const leaves: Leave[] = [];
    for (const moment of MOMENTS.filter(({ fits }) => fits(column))) {
      leaves.push(await runLeave(column, moment));
    }
    return leaves;
  }));
  return runs.flat();
}

/** Runs one call whose client leaves, in a new gateway, and checks that nothing is sent again. */
async function runLeave(column: Column, moment: Moment): Promise<Leave> {
  const upstream = newHeldUpstream(column, moment);
  const clock = scriptedWorld({
    fetch: upstream.fetch,
    isInProcess: column.delivery !== "WebSocket",
  });
  const waits = new Set<number>();
  const world: World = {
    ...clock,
    after(ms, task) {
      waits.add(ms);
      return clock.after(ms, task);
    },
  };
  await using served = column.delivery === "WebSocket"
    ? socketGateway(LEAVING_CONFIG, { world })
    : null;
  const inProcess = served === null ? testGateway(LEAVING_CONFIG, world, {}) : null;
  const gateway = served ?? inProcess;
  assert(gateway !== null);

  /** Runs what can run without time, until the condition holds. */
  async function until(isReached: () => boolean, what: string): Promise<void> {
    for (let look = 0; !isReached(); look++) {
      assert(look < MAX_LOOKS, `${column.call} over ${column.type}, ${moment.name}: ${what}`);
      await clock.advance(0);
    }
  }

  async function begin(): Promise<LeavingClient> {
    if (served !== null) return await newTurnClient(served, column);
    assert(inProcess !== null);
    return newHttpClient(inProcess, column);
  }

  const holder = moment.isQueued ? await begin() : null;
  if (holder !== null) await until(() => upstream.isHeld, "the slot is not taken");
  const client = await begin();
  const { waitMs, hasContent } = moment;
  await until(
    () => waitMs === null ? upstream.isHeld : waits.has(waitMs),
    "the moment is not reached",
  );
  await until(() => !hasContent || client.received().includes("Alpha"), "no content is received");
  const before = gateway.reports.length;
  const left = client.leave();
  // No time passes: the call ends at once.
  await until(() => gateway.reports.length > before, "the call does not end");
  await Promise.all([left, client.over]);
  const report = gateway.reports[before];
  const line = gateway.log.map(parseJson).filter(isObject)
    .find(({ msg, request_id }) => msg === "request" && request_id === report?.id);
  assert(line !== undefined, "no access line");
  assertEquals([line.retries, line.fallback], [0, false]);

  // The slot is free again, and nothing is sent again, however much time passes.
  upstream.release();
  await holder?.over;
  await clock.advance(LONG_MS);
  const sent = upstream.sentCount;
  assertEquals(sent, 1);
  const next = await begin();
  await until(() => upstream.sentCount > sent, "the slot is not free");
  await next.over;
  return {
    column,
    moment: moment.name,
    upstream: moment.isQueued ? "no request" : upstream.isCancelled ? "cancelled" : "answered",
    ...shown(line),
  };
}

function shown({ status, tries = "", end }: JsonObject): Pick<Leave, "status" | "tried" | "end"> {
  assert(typeof status === "number" && typeof tries === "string" && typeof end === "string");
  const outcomes = tries === "" ? [] : tries.split(",").map((one) => one.split(":")[1]);
  return { status, tried: outcomes.join(", "), end };
}

/** Returns an upstream whose first answer is held at a moment, and whose later ones are whole. */
function newHeldUpstream(column: Column, { answer }: Moment) {
  const healthy = newHealthyUpstream(column.isStateful);
  const released = Promise.withResolvers<void>();
  let sentCount = 0;
  let isHeld = false;
  let isCancelled = false;

  async function fetch(url: string, { signal, ...init }: RequestInit): Promise<Response> {
    const body = await new Response(init.body ?? null).text();
    const isFirst = ++sentCount === 1;
    const { method = "POST", headers = {} } = init;
    const whole = await healthy(url, { method, headers, body });
    const text = await whole.text();
    if (!isFirst) return new Response(new Blob([text]).stream(), whole);
    const gone = new Promise<never>((_resolve, reject) => {
      signal?.addEventListener("abort", () => {
        isCancelled = true;
        reject(signal.reason);
      });
    });
    gone.catch(() => {});
    const held = answer(column, text);
    if (held !== null) {
      return new Response(heldBody(held, gone), { headers: whole.headers, status: held.status });
    }
    isHeld = true;
    await Promise.race([released.promise, gone]);
    return new Response(new Blob([text]).stream(), whole);
  }

  function heldBody({ pieces, isWhole }: HeldPieces, gone: Promise<never>) {
    const waiting = pieces.map((piece) => new TextEncoder().encode(piece));
    return new ReadableStream({
      type: "bytes",
      start(controller) {
        gone.catch((reason) => controller.error(reason));
      },
      pull(controller) {
        const next = waiting.shift();
        if (next !== undefined) return controller.enqueue(next);
        isHeld = true;
        if (!isWhole) return;
        controller.close();
        controller.byobRequest?.respond(0);
      },
      cancel() {
        isCancelled = true;
      },
    });
  }

  return {
    fetch,
    /** Completes a held answer whose headers are not sent. */
    release: released.resolve,
    get sentCount() {
      return sentCount;
    },
    /** True once the answer has come to the moment. */
    get isHeld() {
      return isHeld;
    },
    get isCancelled() {
      return isCancelled;
    },
  };
}

type HeldPieces = Pick<NonNullable<ReturnType<Moment["answer"]>>, "pieces" | "isWhole">;
