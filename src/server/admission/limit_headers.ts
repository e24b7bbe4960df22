import type { Call } from "../../call/call.ts";
import { centsOf } from "../../access/client_key.ts";
import type { BudgetUnit, CallScope } from "../../access/quotas.ts";
import type { QuotaRest } from "../../store/quota_store.ts";
import { textBeginning } from "../../core/text_beginning.ts";

type ResponseHeaders = Call["responseHeaders"];

/** Sets the rate of requests and the requests that may be sent immediately. */
export function setRateHeaders(
  responseHeaders: ResponseHeaders,
  limit: number,
  remaining: number,
): void {
  responseHeaders["x-ratelimit-limit"] = String(limit);
  responseHeaders["x-ratelimit-remaining"] = String(remaining);
}

/**
 * Sets the rate of tokens and the tokens that may be used immediately: of the client key or the
 * group with the fewest remaining tokens.
 */
export function setTokenHeaders(
  responseHeaders: ResponseHeaders,
  scopes: readonly CallScope[],
  rests: readonly QuotaRest[],
): void {
  let lowest: { readonly limit: number; readonly remaining: number } | null = null;
  for (const [index, { limits: { tokensPerMinute } }] of scopes.entries()) {
    const remaining = rests[index]?.tokens ?? null;
    if (tokensPerMinute === null || remaining === null) continue;
    if (lowest === null || remaining < lowest.remaining) {
      lowest = { limit: tokensPerMinute, remaining };
    }
  }
  if (lowest === null) return;
  responseHeaders["x-ratelimit-limit-tokens"] = String(lowest.limit);
  responseHeaders["x-ratelimit-remaining-tokens"] = String(Math.max(0, lowest.remaining));
}

/**
 * Sets `X-Gateway-Budget` to the sums of all budgets before this call, such as
 * `day usd 12.34/20, group apps month tokens 120000/50000000`.
 */
export function setBudgetHeader(
  responseHeaders: ResponseHeaders,
  scopes: readonly CallScope[],
  rests: readonly QuotaRest[],
): void {
  const entries = scopes.flatMap(({ group, user, limits: { budgets } }, scope) =>
    budgets.flatMap(({ per, unit, limit }, index) => {
      const spent = rests[scope]?.spent[index];
      if (spent === undefined) return [];
      const owner = user !== undefined
        ? "user "
        : group === null
        ? ""
        : `group ${listedName(group)} `;
      return [
        `${owner}${per} ${unit} ${amountText(spent, unit, limit)}/${
          amountText(limit, unit, limit)
        }`,
      ];
    })
  );
  if (entries.length > 0) responseHeaders["x-gateway-budget"] = entries.join(", ");
}

/** Maximum characters of a group's name in a response header. */
const MAX_GROUP_CHARS = 64;

/**
 * Returns a name without blanks, commas and characters that a header may not have, in
 * percent-encoding.
 */
function listedName(name: string): string {
  return textBeginning(name, MAX_GROUP_CHARS)
    .replace(/[^\x21-\x7e]|[%,]/gu, encodeURIComponent);
}

/**
 * Returns tokens, or USD with at most two decimals, rounded down: a budget that has something left
 * never looks used up. Amounts of a limit below one cent are written to the nano-dollar.
 */
function amountText(amount: number, unit: BudgetUnit, limit: number): string {
  if (unit === "tokens") return String(amount);
  if (centsOf(limit) > 0) return String(centsOf(amount) / 100);
  return (amount / 1e9).toFixed(9).replace(/\.?0+$/, "");
}
