import { factsFor } from "../api/spoken_api.ts";
import type { EndpointFacts } from "../core/endpoint.ts";
import { type Call, newCallClient, parseControls } from "../call/call.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { newReport } from "../observe/report.ts";
import { stateForCall } from "../state/call_state.ts";
import { refuseResponse } from "./admission/overload.ts";
import { requestHeaders } from "./request_headers.ts";

/**
 * Returns the call of a request, with a new ID, a report and the current configuration. `known` are the facts
 * of its path.
 */
export function newCall(
  gateway: Gateway,
  request: Request,
  path: string,
  known: EndpointFacts,
): Call {
  const { generation, state, world, metrics } = gateway;
  const id = world.uuid();
  const report = newReport(id, request.method, path, world.now());
  const headers = requestHeaders(request);
  const endpoint = factsFor(known, { path, headers });
  report.endpoint = endpoint;
  const controls = parseControls(headers);
  report.traceparent = headers.get("traceparent");
  report.session = controls.session;
  metrics.began(endpoint.path);
  gateway.began?.(report);
  const cancellation = state.inFlight.start(id);
  const call: Call = {
    id,
    method: request.method,
    path,
    headers,
    controls,
    cancellation,
    generation,
    state: stateForCall(state, {
      cancellation,
      report,
      refuseRead: () => request.method === "GET" ? refuseResponse(call) : null,
    }),
    world,
    metrics,
    report,
    caller: { name: null, isIsolated: false },
    client: newCallClient(),
    upstreamHeaders: {},
    capture: gateway.newCapture(generation.config, id, state.admission),
    responseHeaders: state.inFlight.isDraining ? { connection: "close" } : {},
  };
  return call;
}
