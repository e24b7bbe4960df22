import type { QuotaDecision, QuotaReason, QuotaRest, QuotaScope } from "../quota_store.ts";
import { integerOf, listOf, textOf } from "./reply.ts";

const REASONS: readonly QuotaReason[] = ["requests", "tokens", "concurrency", "budget"];

/** Returns the time of the server in a reply that only says it; null for any other reply. */
export function parseClock(reply: unknown): number | null {
  const [kind, time] = listOf(reply);
  return textOf(kind) === "clock" ? integerOf(time) : null;
}

/** Returns the decision of a reply to the script of admissions; null if it is none. */
export function parseDecision(
  reply: unknown,
  scopes: readonly QuotaScope[],
): QuotaDecision | null {
  const [kindReply, scopeReply, budgetReply, waitReply, ...figures] = listOf(reply);
  const rests = parseRests(figures, scopes);
  if (rests === null) return null;
  const kind = textOf(kindReply);
  if (kind === "admitted") return { kind, rests };
  const reason = REASONS.find((known) => known === kind);
  const scope = integerOf(scopeReply);
  const budget = integerOf(budgetReply);
  const waitMs = integerOf(waitReply);
  if (reason === undefined || scope === null || budget === null || waitMs === null) return null;
  const refusing = scopes[scope]?.limits.budgets[budget];
  const window = reason === "budget" ? refusing?.window ?? null : null;
  return { kind: "refused", reason, scope, window, waitMs, rests };
}

/** Returns what remains of each scope; null if a figure is missing. */
function parseRests(
  figures: readonly unknown[],
  scopes: readonly QuotaScope[],
): readonly QuotaRest[] | null {
  const rests: QuotaRest[] = [];
  let at = 0;
  for (const { limits } of scopes) {
    const end = at + 2 + limits.budgets.length;
    const [requests, tokens, ...spent] = figures.slice(at, end).map(integerOf);
    if (requests == null || tokens == null) return null;
    rests.push({
      requests: limits.requests === null ? null : requests,
      tokens: limits.tokensPerMinute === null ? null : tokens,
      spent: spent.map((sum) => sum ?? 0),
    });
    at = end;
  }
  return rests;
}

/** Returns the sums of callers from the replies to the script of sums. */
export function parseSums(
  replies: readonly unknown[],
  callers: readonly string[],
): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const lists = replies.flatMap(listOf);
  return new Map(callers.map((caller, index) => [caller, parseWindows(listOf(lists[index]))]));
}

function parseWindows(list: readonly unknown[]): ReadonlyMap<string, number> {
  const windows = new Map<string, number>();
  for (let at = 0; at + 1 < list.length; at += 2) {
    const window = textOf(list[at]);
    const sum = integerOf(list[at + 1]);
    if (window !== null && sum !== null) windows.set(window, sum);
  }
  return windows;
}
