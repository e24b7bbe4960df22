import { recordsAnything } from "../config/record_rules.ts";
import type { Config } from "../config/schema.ts";
import { type Failure, isRefusal, REFUSALS } from "../core/failure/failure.ts";
import { strongestChoice } from "../core/record_choice.ts";
import { type Call, REMOTE_CONTROL } from "../call/call.ts";
import { requiresKey } from "../access/presented_key.ts";
import type { ClientKey } from "../access/client_key.ts";
import type { Route } from "../call/generation.ts";
import type { RecordHead } from "./record.ts";

/** Extent of the record of a call, and the places that said so. */
export interface Selection {
  readonly kind: "heads" | "all";
  readonly why: RecordHead["why"];
}

/** Parts of a call that decide about its record. */
export type Selected = Pick<Call, "generation" | "controls" | "client" | "caller" | "report">;

/**
 * Failures of which only the head is recorded: a flood, or content that a rule of `privacy` has
 * refused.
 */
const HEADS_ONLY: ReadonlySet<string> = new Set<Failure["kind"]>([
  "overloaded",
  "privacy_rule_matched",
  "privacy_unreplaceable",
  "privacy_unread",
  "privacy_too_many_values",
  "privacy_search_timeout",
  "response_refused",
]);

/** Statuses of the refusals of a client that is not known, or is beyond one of its limits. */
const STRANGERS_STATUSES: readonly number[] = [401, 429];

const answers = new WeakMap<Config, boolean>();

/** True if a call with this configuration may have a record, before anything else is known. */
export function mayRecord(
  { generation, controls }: Pick<Call, "generation" | "controls">,
): boolean {
  if (controls.noRecord) return false;
  const { config } = generation;
  const known = answers.get(config);
  if (known !== undefined) return known;
  const answer = recordsAnything(config);
  answers.set(config, answer);
  return answer;
}

/**
 * Returns what is recorded of a call whose response begins; null for nothing. Calls without a valid
 * key and those refused by a limit of their client are never recorded: strangers could fill the
 * file.
 */
export function selectRecord(call: Selected): Selection | null {
  const { generation, client, caller, report } = call;
  const { endpoint, failure } = report;
  if (!mayRecord(call) || endpoint.api === null || caller.name === REMOTE_CONTROL) return null;
  if (client.key === null && requiresKey(generation)) return null;
  const refusal = failure !== null && isRefusal(failure) ? failure.kind : null;
  if (refusal !== null && STRANGERS_STATUSES.includes(REFUSALS[refusal].status)) return null;
  const route = generation.routes.find(({ name }) => name === report.route) ?? null;
  const chosen = chooseRecord(generation.config, client.key, route);
  // Refused before its route was known, the call may be one of a route that says never.
  const mayBeNever = route === null && generation.routes.some(({ record }) => record === "never");
  const isHead = hasOnlyHead(report) || mayBeNever;
  return chosen === null || !isHead ? chosen : { ...chosen, kind: "heads" };
}

/** True if a call has failed in a way of which only the head is recorded. */
export function hasOnlyHead({ failure }: Pick<Call["report"], "failure">): boolean {
  return failure !== null && HEADS_ONLY.has(failure.kind);
}

/** Returns what is recorded of the calls of a key and a route; null for nothing. */
export function chooseRecord(
  { record: { enabled, calls } }: Pick<Config, "record">,
  key: Pick<ClientKey, "record"> | null,
  route: Pick<Route, "record"> | null,
): Selection | null {
  if (!enabled) return null;
  const choices = [
    ["key", key?.record?.key],
    ["group", key?.record?.groups],
    ["route", route?.record],
    ["default", calls],
  ] as const;
  const kind = strongestChoice(choices.map(([, choice]) => choice));
  if (kind === "none" || kind === "never") return null;
  return { kind, why: choices.filter(([, choice]) => choice === kind).map(([place]) => place) };
}
