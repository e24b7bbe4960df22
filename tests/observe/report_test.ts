import { type End, type Failure, FAULTS, isFaultKind } from "../../src/core/failure/failure.ts";
import { fault, refuse } from "../../src/core/failure/result.ts";
import { endOf, retriesOf } from "../../src/observe/report.ts";
import { assertEquals } from "../support/assert.ts";
import { tryOf } from "./reports.ts";

/**
 * How the log names the end of a call that fails before delivery began, and of one whose stream
 * breaks.
 */
const ENDS: readonly (readonly [Failure, before: End, broken: End])[] = [
  [refuse("invalid_value", "").failure, "refused", "refused"],
  [refuse("draining", "").failure, "drained", "drained"],
  [fault("no_route", "").failure, "refused", "refused"],
  [fault("client_cancelled", "").failure, "client_gone", "client_gone"],
  [fault("upstream_throttled", "").failure, "upstream_status", "stream_broken"],
  [fault("upstream_unavailable", "").failure, "upstream_status", "stream_broken"],
  [fault("upstream_error", "").failure, "upstream_status", "stream_broken"],
  [fault("upstream_rejected", "").failure, "upstream_status", "stream_broken"],
  [fault("context_length_exceeded", "").failure, "upstream_status", "stream_broken"],
  [fault("content_filtered", "").failure, "upstream_status", "stream_broken"],
  [fault("invalid_upstream_status", "").failure, "upstream_invalid", "stream_broken"],
  [fault("upstream_unreachable", "").failure, "upstream_unreachable", "stream_broken"],
  [fault("upstream_timeout", "").failure, "upstream_timeout", "stream_broken"],
  [fault("invalid_upstream_response", "").failure, "upstream_invalid", "stream_broken"],
  [fault("upstream_response_too_large", "").failure, "upstream_invalid", "stream_broken"],
  [fault("promise_broken", "").failure, "upstream_invalid", "stream_broken"],
  [fault("upstream_idle", "").failure, "stream_idle", "stream_idle"],
  [fault("circuit_open", "").failure, "circuit_open", "circuit_open"],
  [fault("provider_busy", "").failure, "refused", "refused"],
  [fault("state_unavailable", "").failure, "state_unavailable", "state_unavailable"],
  [fault("state_unreadable", "").failure, "state_unavailable", "state_unavailable"],
  [fault("provider_keys_resting", "").failure, "refused", "refused"],
  [fault("provider_keys_refused", "").failure, "refused", "refused"],
  [fault("credential_unavailable", "").failure, "refused", "refused"],
  [fault("internal_error", "").failure, "internal", "internal"],
  [fault("response_refused", "").failure, "blocked", "blocked"],
];

Deno.test("each failure has one end in the log, and a different one if it broke a stream", () => {
  assertEquals(endOf({ failure: null, brokeOff: false }), "complete");
  for (const [failure, before, broken] of ENDS) {
    assertEquals(endOf({ failure, brokeOff: false }), before, failure.kind);
    assertEquals(endOf({ failure, brokeOff: true }), broken, failure.kind);
  }
  const covered = ENDS.map(([{ kind }]) => kind).filter(isFaultKind);
  assertEquals(new Set(covered), new Set(Object.keys(FAULTS).filter(isFaultKind)));
});

Deno.test("an attempt that sent nothing is no retry", () => {
  const tries = [
    tryOf({ outcome: "upstream_timeout" }),
    tryOf({ number: 2, outcome: "upstream_timeout" }),
    tryOf({ number: 3, outcome: "circuit_open" }),
    tryOf({ number: 4, outcome: "provider_busy" }),
    tryOf({ number: 5, outcome: "draining" }),
    tryOf({ number: 6 }),
    tryOf({ number: 6, isRotated: true }),
    tryOf({ number: 7, outcome: "provider_keys_resting" }),
  ];
  assertEquals(retriesOf(tries).map(({ number }) => number), [2, 5, 6]);
});
