import { attempt } from "./attempts/attempt.ts";
import type { Catalog } from "./core/catalog.ts";
import type { Reply } from "./core/reply.ts";
import type { Result } from "./core/result.ts";
import type { Call } from "./gateway/call.ts";
import type { Inference } from "./gateway/inference.ts";
import { choose } from "./routing/choose.ts";
import { discover } from "./upstream/discover.ts";
import type { Provider } from "./wires/wire.ts";

/** The road of a request: choose its targets, then try them. */
export async function exchange(call: Call, inference: Inference): Promise<Result<Reply>> {
  const plan = choose(call, inference);
  if (!plan.ok) return plan;
  return await attempt(call, inference, plan.value);
}

/** The models that a provider is known to have. */
export async function modelsOf(call: Call, provider: Provider): Promise<Catalog> {
  return await discover(call, provider);
}
