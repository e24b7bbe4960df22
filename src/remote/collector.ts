import { Cancellation } from "../core/cancellation.ts";
import { pause } from "../core/pause.ts";
import { VERSION } from "../core/build.ts";
import { concatBytes } from "../core/concat_bytes.ts";
import type { World } from "../core/world.ts";
import type { Log } from "../observe/log.ts";
import type { ExportEvent } from "./export.ts";
import { postOnce, type PostResult } from "./post.ts";

/** Address of the dashboard and identity of this gateway. */
export interface CollectorSettings {
  /** Base URL of the dashboard, without a trailing slash. */
  readonly backendUrl: string;
  readonly apiKey: string;
  readonly instanceId: string;
}

/** Dependencies of the collector. */
export interface CollectorDeps {
  readonly world: World;
  readonly log: Pick<Log, "info" | "warn">;
  /** Counts dropped events. */
  dropped(events: number): void;
}

/** Queue of events for the dashboard. */
export type Collector = ReturnType<typeof newCollector>;

/** Limits of the queue, including the batch in flight. */
const MAX_QUEUED_EVENTS = 1_000;
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;

/** Limits of one batch; a larger event is sent alone. */
const MAX_BATCH_EVENTS = 100;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/** Time for which a batch waits for further events. */
const BATCH_DELAY_MS = 1_000;

/** On shutdown: time to send queued events. */
const FLUSH_TIMEOUT_MS = 5_000;

/** Maximum number of attempts to send one batch. */
const MAX_ATTEMPTS = 3;

/** Delay before the second attempt; it doubles with each further one. */
const FIRST_RETRY_DELAY_MS = 1_000;

/** Timeout of one attempt. */
const ATTEMPT_TIMEOUT_MS = 10_000;

/** Returns a collector that sends one batch at a time while events are queued. */
export function newCollector(settings: CollectorSettings, deps: CollectorDeps) {
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
    if (queue.length >= MAX_BATCH_EVENTS) return void begin();
    cancelTimer ??= world.after(BATCH_DELAY_MS, () => void begin());
  }

  function begin(): Promise<void> {
    cancelTimer?.();
    cancelTimer = null;
    return sending = send(takeBatch());
  }

  function takeBatch(): Uint8Array[] {
    let bytes = 0;
    const count = queue.findIndex((event, at) => {
      bytes += event.length;
      return at >= MAX_BATCH_EVENTS || (at > 0 && bytes > MAX_BATCH_BYTES);
    });
    return queue.splice(0, count < 0 ? queue.length : count);
  }

  async function send(batch: readonly Uint8Array[]) {
    const outcome = await deliver(batchBody(batch, settings, world));
    held = {
      events: held.events - batch.length,
      bytes: batch.reduce((left, event) => left - event.length, held.bytes),
    };
    if (outcome.kind !== "accepted") dropped(batch.length);
    if (!cut.isCancelled) logOutcome(outcome);
    sending = null;
    if (!isClosed) schedule();
  }

  async function deliver(body: Uint8Array<ArrayBuffer>): Promise<PostResult> {
    const { backendUrl, apiKey } = settings;
    const request = {
      url: `${backendUrl}/collector`,
      headers: { "authorization": `Bearer ${apiKey}`, "content-type": "application/json" },
      body,
    };
    for (let attempt = 1;; attempt++) {
      const outcome = await postOnce(request, { world, timeoutMs: ATTEMPT_TIMEOUT_MS, cut });
      if (outcome.kind !== "failed" || attempt === MAX_ATTEMPTS || cut.isCancelled) return outcome;
      await pause(world, cut, FIRST_RETRY_DELAY_MS * 2 ** (attempt - 1));
    }
  }

  function logOutcome(outcome: PostResult) {
    if (outcome.kind !== "accepted") return warn(outcome.reason);
    if (isFailing) log.info("the dashboard accepts events again");
    isFailing = false;
  }

  function drop(events: number) {
    if (events === 0) return;
    dropped(events);
    if (!isClosed) warn("the queue is full");
  }

  function warn(reason: string) {
    if (!isFailing) log.warn("the dashboard does not accept events; they are dropped", { reason });
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
    /** True if the queue accepts another event that is not too large. */
    hasRoom: (): boolean => !isClosed && held.events < MAX_QUEUED_EVENTS,
    /** Counts events that were dropped because the queue was full. */
    drop,
    /** Queues an event, or drops it if the queue is full. Returns immediately. */
    add(event: ExportEvent): void {
      if (isClosed || held.events >= MAX_QUEUED_EVENTS) return drop(1);
      const bytes = encoder.encode(JSON.stringify(event));
      if (held.bytes + bytes.length > MAX_QUEUED_BYTES) return drop(1);
      held = { events: held.events + 1, bytes: held.bytes + bytes.length };
      queue.push(bytes);
      schedule();
    },
    /**
     * At shutdown: sends the queued events within 5 s and drops the rest. The queue accepts no more
     * events.
     */
    async flush(): Promise<void> {
      isClosed = true;
      const cancel = world.after(FLUSH_TIMEOUT_MS, () => {
        // The metric of dropped events is not scraped after this point.
        log.warn("events were lost at shutdown: the dashboard was too slow", {
          events: held.events,
        });
        void discard();
      });
      while (sending !== null || queue.length > 0) await (sending ?? begin());
      cancel();
    },
    /** Drops the queued events immediately. The queue accepts no more events. */
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
  return concatBytes(parts);
}
