import { type Failed, refuse } from "../../core/result.ts";
import type { Call } from "../../call/call.ts";
import { usdOf } from "../../call/client_key.ts";
import { budgetWall, type CallScope } from "../../call/quotas.ts";
import type { QuotaDecision } from "../../state/quota_store.ts";

type Refused = Extract<QuotaDecision, { readonly kind: "refused" }>;

/** Returns the refusal of a call by a limit, and sets `Retry-After`. The message names a group. */
export function refuseByLimit(
  call: Call,
  scopes: readonly CallScope[],
  refused: Refused,
): Failed {
  const scope = scopes[refused.scope];
  const { reason } = refused;
  if (reason === "budget") return refuseBudget(call, scope, refused);
  const seconds = setWait(call, refused.waitMs);
  switch (reason) {
    case "requests":
      return refuse("rate_limit_exceeded", `Too many requests; try again in ${seconds} s.`);
    case "tokens": {
      const owner = scope?.group == null ? "" : ` of the group '${scope.group}'`;
      return refuse("token_rate_exceeded", `Too many tokens${owner}; try again in ${seconds} s.`);
    }
    case "concurrency": {
      const most = scope?.limits.maxConcurrent ?? 0;
      return refuse(
        "concurrency_limit_exceeded",
        `Too many concurrent calls: this client key may have ${most}; try again in ${seconds} s.`,
      );
    }
  }
}

/** Sets `Retry-After` and returns its seconds. */
function setWait({ responseHeaders }: Call, waitMs: number): number {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  responseHeaders["retry-after"] = String(seconds);
  return seconds;
}

/** Refuses a call until the window of the budget ends. Official SDKs would repeat it at once otherwise. */
function refuseBudget(call: Call, scope: CallScope | undefined, { window }: Refused): Failed {
  const owner = scope?.group == null ? "this client key" : `the group '${scope.group}'`;
  const budget = scope?.limits.budgets.find((one) => one.window === window);
  call.responseHeaders["x-should-retry"] = "false";
  if (budget === undefined) return refuse("budget_exceeded", `A budget of ${owner} is used up.`);
  const { endMs, limit, per, unit } = budget;
  setWait(call, endMs - budgetWall(call));
  const amount = unit === "usd" ? `${usdOf(limit)} USD` : `${limit} tokens`;
  const end = new Date(endMs).toISOString().replace(".000Z", "Z");
  return refuse(
    "budget_exceeded",
    `The budget of ${owner} of ${amount} per ${per} is used up; its window ends at ${end}.`,
  );
}
