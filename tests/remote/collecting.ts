import { isObject } from "../../src/core/json/json.ts";
import { newLog, textOf } from "../../src/observe/log.ts";
import { type Collector, newCollector } from "../../src/remote/collector.ts";
import type { ExportEvent } from "../../src/remote/export.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

/** One POST as it reached the network. */
export interface Sent {
  readonly url: string;
  readonly init: RequestInit;
  readonly body: unknown;
  /** Milliseconds on the world's clock. */
  readonly at: number;
}

/** A collector with a scripted dashboard. */
export interface Collecting {
  readonly collector: Collector;
  readonly world: ScriptedWorld;
  readonly sent: readonly Sent[];
  readonly lines: readonly string[];
  /** How many events were dropped so far. */
  readonly dropped: number;
}

/** How the dashboard answers POST number `count`, counted from 1. */
export type Answers = (count: number, init: RequestInit) => Promise<Response>;

/** A dashboard that takes everything. */
export const taking: Answers = () => Promise.resolve(new Response(null, { status: 202 }));

/** A dashboard that never answers, until it is given up. */
export const silent: Answers = (_count, { signal }) =>
  new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
  });

/** A collector that sends to this dashboard. */
export function collecting(answers: Answers): Collecting {
  const sent: Sent[] = [];
  const lines: string[] = [];
  let dropped = 0;
  const world = scriptedWorld({
    fetch(url, init) {
      const text = init.body instanceof Uint8Array ? new TextDecoder().decode(init.body) : "";
      sent.push({ url, init, body: JSON.parse(text), at: world.now() });
      return answers(sent.length, init);
    },
  });
  const settings = { backendUrl: "https://board.example/x", apiKey: "gk-1", instanceId: "i-1" };
  const collector = newCollector(settings, {
    world,
    log: newLog({ level: "debug", format: "json" }, (line) => void lines.push(textOf(line))),
    dropped: (events) => void (dropped += events),
  });
  return {
    collector,
    world,
    sent,
    lines,
    get dropped() {
      return dropped;
    },
  };
}

/** A metric event with a number, padded with `characters` characters. */
export function event(number: number, characters = 0): ExportEvent {
  return { type: "metric", data: { number, text: "x".repeat(characters) } };
}

/** The numbers of the events in a POST, in order. */
export function numbersIn({ body }: Sent): unknown[] {
  const events = isObject(body) && Array.isArray(body.events) ? body.events : [];
  return events.map((one) => isObject(one) && isObject(one.data) ? one.data.number : null);
}
