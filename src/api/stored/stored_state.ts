import type { Refusal } from "../../core/failure/failure.ts";
import { type Failed, refuse } from "../../core/failure/result.ts";
import type { Call } from "../../call/call.ts";

/**
 * Returns the refusal of a call that needs stored state, at a gateway that stores nothing; null at
 * every other gateway. `message` names the setting and the remedy.
 */
export function refuseStored(
  { state }: Pick<Call, "state">,
  message: string,
  param: string | null = null,
): Failed<Refusal> | null {
  return state.objects.storesNothing === true ? refuse("state_disabled", message, param) : null;
}
