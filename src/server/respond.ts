import { statusOf } from "../core/failure.ts";
import { fault } from "../core/result.ts";
import type { Answer, HeaderFields, Reply } from "../core/reply.ts";
import type { Result } from "../core/result.ts";
import type { Call } from "../gateway/call.ts";
import { costOf } from "../observe/cost.ts";
import type { Sink } from "../observe/report.ts";
import type { Flusher } from "./flusher.ts";
import { isTold, keptRecords, sharedOf } from "./shared.ts";
import { streamBody } from "./stream_body.ts";

const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
} as const;

/** What every answer needs beside its call. */
export interface Rim {
  /** Each gets the report of a call when its last byte is out. */
  readonly sinks: readonly Sink[];
  readonly flusher: Flusher;
}

/** The answer to a call, with the gateway's headers; the report goes out when the last byte is. */
export function respond(call: Call, result: Result<Reply>, rim: Rim): Response {
  const { report, world } = call;
  const now = begin(call, result);
  if (!result.ok) return whole(call, report.endpoint.errors.whole(result.failure), now, rim);
  if (result.value.as === "answer") return whole(call, result.value.answer, now, rim);
  const { headers, records } = result.value;
  const body = streamBody(
    isTold(call, "share_responses") ? keptRecords(records, report) : records,
    world,
    call.cancellation,
    rim.flusher,
    (isWhole) => finish(call, rim, isWhole),
  );
  return new Response(body, {
    status: 200,
    headers: { ...headers, ...STREAM_HEADERS, ...own(call, now) },
  });
}

/** What the report is told when the answer begins; the result is how many milliseconds that took. */
export function begin({ report, world }: Call, result: Result<Reply>): number {
  const now = world.now() - report.began;
  report.ms.firstByte = now;
  if (!result.ok) {
    report.failure = result.failure;
    report.status = statusOf(result.failure);
  } else if (result.value.as === "stream") {
    report.status = 200;
    report.stream = true;
    report.ms.firstToken = now;
  }
  return now;
}

function whole(call: Call, answer: Answer, now: number, rim: Rim): Response {
  call.report.status = answer.status;
  if (isTold(call, "share_responses")) call.report.answer = answer.body;
  const response = new Response(answer.status === 204 ? null : answer.body, {
    status: answer.status,
    // Without no-transform the runtime compresses, and what was exact no longer is.
    headers: { "cache-control": "no-transform", ...noTransform(answer.headers), ...own(call, now) },
  });
  finish(call, rim, true);
  return response;
}

function noTransform(headers: HeaderFields): HeaderFields {
  const { "cache-control": theirs } = headers;
  if (theirs === undefined) return headers;
  return { ...headers, "cache-control": `${theirs}, no-transform` };
}

function own({ id, report, answerHeaders }: Call, now: number): HeaderFields {
  const { provider, model, route, cache } = report;
  return {
    ...answerHeaders,
    "x-gateway-request-id": id,
    // The name under which SDKs look for it. An upstream's own id never takes its place.
    "x-request-id": id,
    "x-gateway-latency-ms": now.toFixed(1),
    "x-gateway-overhead-duration-ms": Math.max(0, now - report.ms.upstream).toFixed(1),
    ...(route === null ? {} : { "x-gateway-route": headerText(route) }),
    ...(provider === null ? {} : { "x-gateway-provider": headerText(provider) }),
    ...(model === null ? {} : { "x-gateway-model": headerText(model) }),
    ...(cache === null ? {} : { "x-gateway-cache-status": cache }),
  };
}

/** Clients give up on headers of some kilobytes; a longer name is cut to so many characters. */
const LONGEST_NAME = 256;

/** A header holds no line breaks and no characters beyond Latin-1. */
function headerText(text: string): string {
  const shown = text.slice(0, LONGEST_NAME);
  return /^[\x20-\x7e]*$/.test(shown) ? shown : encodeURI(shown.toWellFormed());
}

/**
 * Ends a call whose response has ended, or was broken off: completes its report, takes it out of the
 * calls in flight, gives its place and its body memory to other calls, and passes the report to the sinks.
 */
export function finish(call: Call, { sinks }: Rim, isWhole: boolean): void {
  const { id, report, world, vault, cancellation, generation } = call;
  report.ms.total = world.now() - report.began;
  if (report.failure === null && !isWhole) {
    report.failure = cancellation.isClientGone
      ? fault("client_cancelled", "The client has gone.").failure
      : fault("internal_error", "The gateway has failed; this is a bug in it.").failure;
    report.brokeOff = true;
  }
  const { usage, provider, model } = report;
  if (usage !== null && provider !== null && model !== null) {
    report.cost = costOf(usage, generation.config.pricing, provider, model);
  }
  if (generation.config.data_sharing.enabled) report.shared = () => sharedOf(call);
  vault.admission.release(id);
  vault.inFlight.finish(id);
  for (const sink of sinks) sink(report);
}
