import { Cancellation } from "../core/cancellation.ts";
import { pause } from "../core/pause.ts";
import { VERSION } from "../core/version.ts";
import type { World } from "../core/world.ts";
import type { Log } from "../observe/log.ts";
import type { ExportEvent } from "./export.ts";
import { postOnce, type PostResult } from "./post.ts";

/** Where events go, and who sends them. */
export interface CollectorSettings {
  /** The address of the dashboard, without a slash at its end. */
  readonly backendUrl: string;
  readonly apiKey: string;
  readonly instanceId: string;
}

/** What the collector needs. */
export interface CollectorDeps {
  readonly world: World;
  readonly log: Pick<Log, "info" | "warn">;
  /** So many events were given up. */
  dropped(events: number): void;
}

/** Events on their way to the dashboard. */
export interface Collector {
  /** Takes an event, or drops it when too many wait. Never waits itself. */
  add(event: ExportEvent): void;
  /** Whether one more event would be taken, if it is not too large. */
  hasRoom(): boolean;
  /** Counts so many events that were given up because there was no room. */
  drop(events: number): void;
  /** Sends what is left, within so many milliseconds; what is not taken then is dropped. Takes no more. */
  flush(ms: number): Promise<void>;
  /** Drops what is left, at once. Takes no more. */
  discard(): Promise<void>;
}

/** The most that waits or is being sent. */
const MOST_EVENTS = 1_000;
const MOST_BYTES = 64 * 1024 * 1024;

/** The most that is sent together; a larger event is sent alone. */
const BATCH_EVENTS = 100;
const BATCH_BYTES = 8 * 1024 * 1024;

/** The first event of a batch waits so many milliseconds for others. */
const GATHER = 1_000;

const ATTEMPTS = 3;

/** Milliseconds before the second attempt; twice as many before the third. */
const FIRST_PAUSE = 1_000;

/** One attempt may take so many milliseconds. */
const PATIENCE = 10_000;

/** A collector that sends batches one after the other, as soon as there is something to send. */
export function newCollector(settings: CollectorSettings, deps: CollectorDeps): Collector {
  const { world, log, dropped } = deps;
  const encoder = new TextEncoder();
  const queue: Uint8Array[] = [];
  const cut = new Cancellation();
  let held = { events: 0, bytes: 0 };
  let sending: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;
  let isClosed = false;
  let isFailing = false;

  function schedule() {
    if (sending !== null || queue.length === 0) return;
    if (queue.length >= BATCH_EVENTS) return void begin();
    cancelTimer ??= world.after(GATHER, () => void begin());
  }

  function begin(): Promise<void> {
    cancelTimer?.();
    cancelTimer = null;
    return sending = send(taken());
  }

  function taken(): Uint8Array[] {
    let bytes = 0;
    const count = queue.findIndex((event, at) => {
      bytes += event.length;
      return at >= BATCH_EVENTS || (at > 0 && bytes > BATCH_BYTES);
    });
    return queue.splice(0, count < 0 ? queue.length : count);
  }

  async function send(batch: readonly Uint8Array[]) {
    const outcome = await delivered(batchBody(batch, settings, world));
    held = {
      events: held.events - batch.length,
      bytes: batch.reduce((left, event) => left - event.length, held.bytes),
    };
    if (outcome.as !== "taken") dropped(batch.length);
    if (!cut.isCancelled) tell(outcome);
    sending = null;
    if (!isClosed) schedule();
  }

  async function delivered(body: Uint8Array<ArrayBuffer>): Promise<PostResult> {
    const { backendUrl, apiKey } = settings;
    const request = {
      url: `${backendUrl}/collector`,
      headers: { "authorization": `Bearer ${apiKey}`, "content-type": "application/json" },
      body,
    };
    for (let attempt = 1;; attempt++) {
      const outcome = await postOnce(request, { world, timeoutMs: PATIENCE, cut });
      if (outcome.as !== "failed" || attempt === ATTEMPTS || cut.isCancelled) return outcome;
      await pause(world, cut, FIRST_PAUSE * 2 ** (attempt - 1));
    }
  }

  function tell(outcome: PostResult) {
    if (outcome.as !== "taken") return warn(outcome.reason);
    if (isFailing) log.info("the dashboard takes events again");
    isFailing = false;
  }

  function drop(events: number) {
    if (events === 0) return;
    dropped(events);
    if (!isClosed) warn("it is too slow");
  }

  function warn(reason: string) {
    if (!isFailing) log.warn("the dashboard does not take events; they are dropped", { reason });
    isFailing = true;
  }

  async function discard() {
    isClosed = true;
    cancelTimer?.();
    cut.cancel(null);
    if (queue.length > 0) dropped(queue.splice(0).length);
    await sending;
  }

  return {
    hasRoom: () => !isClosed && held.events < MOST_EVENTS,
    drop,
    add(event) {
      if (isClosed || held.events >= MOST_EVENTS) return drop(1);
      const bytes = encoder.encode(JSON.stringify(event));
      if (held.bytes + bytes.length > MOST_BYTES) return drop(1);
      held = { events: held.events + 1, bytes: held.bytes + bytes.length };
      queue.push(bytes);
      schedule();
    },
    async flush(ms) {
      isClosed = true;
      const cancel = world.after(ms, () => {
        // Nobody reads the count of dropped events any more.
        log.warn("the dashboard was too slow at the end; events are lost", { events: held.events });
        void discard();
      });
      while (sending !== null || queue.length > 0) await (sending ?? begin());
      cancel();
    },
    discard,
  };
}

const COMMA = new Uint8Array([44]);

function batchBody(
  events: readonly Uint8Array[],
  { instanceId }: CollectorSettings,
  world: Pick<World, "wall">,
): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const head = JSON.stringify({
    version: "1.0",
    gateway_version: VERSION,
    instance_id: instanceId,
    timestamp: new Date(world.wall()).toISOString(),
  });
  const parts: Uint8Array[] = [encoder.encode(`${head.slice(0, -1)},"events":[`)];
  for (const [at, event] of events.entries()) parts.push(...(at > 0 ? [COMMA] : []), event);
  parts.push(encoder.encode("]}"));
  return joined(parts);
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
