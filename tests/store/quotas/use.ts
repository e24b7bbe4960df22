import type { QuotaUse } from "../../../src/store/quota_store.ts";

/** Returns a use of nothing, changed by what a test is about. */
export function use(caller: string, changes: Partial<QuotaUse>): QuotaUse {
  return {
    caller,
    tokensPerMinute: null,
    holdsSlot: false,
    tokens: 0,
    spends: [],
    ...changes,
  };
}
