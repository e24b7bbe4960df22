import type { Call } from "../call/call.ts";
import { nanoUsd as toNanoUsd } from "../access/client_key.ts";
import { wordMask } from "../access/client_key_mask.ts";
import type { Meter, MeteredUse } from "../access/meter.ts";
import { budgetWall, lastWindowMs, usesOf } from "../access/quotas.ts";
import { billedOutput, computeCost, type Pricing } from "../observe/cost.ts";
import type { Charge } from "../observe/report.ts";
import { keptName } from "../core/text_beginning.ts";
import { OTHER_CLIENT, type UsageRow, userRowName } from "../core/usage_row.ts";
import { internalError } from "./internal_error.ts";

/**
 * Charges a finished call of a client key with what it has used, and gives its concurrent call
 * back.
 */
export function chargeCall(call: Call): void {
  const { id, report, state, generation, client: { meter, quotas } } = call;
  const uses = meter === null ? null : pricedUses(meter, generation.config);
  const charge = uses === null ? NOTHING : chargeOf(call, uses);
  if (uses !== null) {
    report.charge = charge;
    if (state.usage.isOn) addUsage(call, uses);
  }
  leaveSubject(call, charge);
  if (quotas === null) return;
  call.client.quotas = null;
  state.leases.remove(id);
  const settling = state.quotas.settle(id, usesOf(quotas, charge, budgetWall(call)));
  if (settling instanceof Promise) {
    void settling.catch((error: unknown) => internalError(call, error));
  }
}

/**
 * Ends the call of a client that the configuration does not name, before its limits are settled.
 */
function leaveSubject(call: Call, { tokens, nanoUsd }: Charge): void {
  const { client: { subject, quotas }, state } = call;
  if (subject === null) return;
  call.client.subject = null;
  const own = quotas?.callers.find(({ caller }) => caller === subject.caller);
  const perMinute = own?.limits.tokensPerMinute ?? null;
  const windowMs = quotas === null || own === undefined || tokens + nanoUsd === 0
    ? 0
    : lastWindowMs(own.limits, quotas.calendar, budgetWall(call));
  state.subjects.leave(subject.pool, subject.caller, {
    busyMs: Math.max(subject.rateMs, windowMs),
    refillMs: perMinute === null ? 0 : tokens * 60_000 / perMinute,
  });
}

const NOTHING: Charge = { tokens: 0, nanoUsd: 0 };

/** Use of one model by a call, with its cost. */
interface PricedUse extends MeteredUse {
  /** Cost in nano-dollars; 0 for an operation that the provider does not bill. */
  readonly nanoUsd: number;
}

function pricedUses(meter: Meter, pricing: Pricing): readonly PricedUse[] {
  return meter.uses().map((use) => ({ ...use, nanoUsd: use.isFree ? 0 : costOf(use, pricing) }));
}

/**
 * Returns the charge of a call. Estimated tokens, and units of the request, become those of its
 * report.
 */
function chargeOf({ report }: Call, uses: readonly PricedUse[]): Charge {
  let tokens = 0;
  let nanoUsd = 0;
  for (const use of uses) {
    tokens += tokensOf(use);
    nanoUsd += use.nanoUsd;
    if (use.isEstimated) report.estimated = true;
    if (use.isFree) continue;
    const isLast = use.provider === report.provider && use.model === report.model;
    if (use.isEstimated && isLast) report.usage = use.usage;
    if (isLast) report.units ??= use.units;
  }
  return { tokens: count(tokens), nanoUsd: count(nanoUsd) };
}

/**
 * Adds a call to the usage of its key: its tokens and cost to each model that has used them, the
 * call itself to the model that served it. Calls without a provider are not counted.
 */
function addUsage(call: Call, uses: readonly PricedUse[]): void {
  const { report, state, generation: { calendar }, world } = call;
  const { client, provider } = report;
  if (client === null || provider === null) return;
  const day = calendar.dateOf(world.wall());
  const owner = usageOwner(call, client, day);
  const model = report.model ?? "";
  const masked = wordMask(call) ?? ((text: string) => text);
  const add = (row: UsageRow) => state.usage.add({ ...row, model: keptName(masked(row.model)) });
  const own = { calls: 1, estimated: report.estimated ? 1 : 0 };
  const last = uses.at(-1);
  const isServer = last?.provider === provider && last.model === model;
  if (!isServer) add({ day, ...owner, provider, model, ...own, ...NO_TOKENS });
  for (const use of uses) {
    const { provider, model, nanoUsd } = use;
    const { input, cached } = use.usage ?? NO_TOKENS;
    const output = use.usage === null ? 0 : billedOutput(use.usage);
    add({
      day,
      ...owner,
      provider,
      model,
      ...(isServer && use === last ? own : NO_CALL),
      input: count(input),
      output: count(output),
      cached: count(cached),
      nanoUsd: count(nanoUsd),
    });
  }
}

/** Returns the owner of the rows of a client: those that no configuration names are bounded. */
function usageOwner(
  { report, state: { subjects } }: Call,
  client: string,
  day: string,
): Pick<UsageRow, "key" | "isToken"> {
  const { measured, endUser } = report;
  if (measured !== null) return { key: subjects.usageName(day, client), isToken: true };
  if (endUser === null) return { key: client };
  const name = userRowName(client, endUser);
  const isCounted = subjects.usageName(day, name) === name;
  return { key: isCounted ? name : userRowName(client, OTHER_CLIENT) };
}

const NO_CALL = { calls: 0, estimated: 0 };
const NO_TOKENS = { input: 0, output: 0, cached: 0, nanoUsd: 0 };

/**
 * Returns the tokens of an attempt: the provider's own total, which may have more than input and
 * output, but not less.
 */
function tokensOf({ usage }: MeteredUse): number {
  return usage === null ? 0 : Math.max(usage.total ?? 0, usage.input + usage.output);
}

/**
 * Returns the cost of an attempt in nano-dollars; 0 without a price, which no budget in USD
 * permits.
 */
function costOf({ usage, units, provider, model }: MeteredUse, pricing: Pricing): number {
  return toNanoUsd(computeCost({ usage, units }, pricing, provider, model) ?? 0);
}

/** Returns a whole number that a store can add: figures of providers are untrusted. */
function count(figure: number): number {
  if (!(figure > 0)) return 0;
  return Math.min(Math.round(figure), Number.MAX_SAFE_INTEGER);
}
