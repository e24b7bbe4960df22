import { refuse } from "../../core/result.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { Admission } from "./admission.ts";
import { REMOTE_CONTROL, takeRemoteToken } from "./rate_limit.ts";

/**
 * Returns the admission of calls from the dashboard. Its channel is authenticated and comes from no
 * browser, so neither a client key nor the browser rules apply. Its rate is limited and its objects
 * are isolated as for any client. Refused as `draining` once the gateway shuts down, because
 * nothing else stops new calls of the channel.
 */
export function newRemoteAdmission({ state }: Gateway): Admission {
  return (call) => {
    const { generation: { clientKeys, config }, report, caller } = call;
    report.client = REMOTE_CONTROL;
    caller.name = REMOTE_CONTROL;
    caller.isIsolated = clientKeys.length > 0 && config.security.isolate_clients;
    return state.inFlight.isDraining
      ? refuse("draining", "The gateway is shutting down; send the request again.")
      : takeRemoteToken(call);
  };
}
