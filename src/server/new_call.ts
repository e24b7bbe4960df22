import { factsFor } from "../api/spoken_api.ts";
import type { EndpointFacts } from "../core/endpoint.ts";
import { type Call, newCallClient, parseControls } from "../call/call.ts";
import { hideKeyInPath } from "../access/client_key_mask.ts";
import { recordSession } from "../call/session.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { newReport } from "../observe/report.ts";
import { stateForCall } from "../store/call_state.ts";
import { clientOver } from "./admission/admit.ts";
import { refuseResponse } from "./admission/overload.ts";
import { listenerFields } from "../runtime/listener_request.ts";
import { FieldTable, type RequestHeaders } from "../core/header_fields.ts";
import type { Peer } from "../runtime/peer.ts";
import { clientTurns } from "../call/call_turns.ts";

/**
 * Returns the call of a request, with a new ID, a report and the current configuration. `known` are
 * the facts of its path, and `peer` is the client end of its connection.
 */
export function newCall(
  gateway: Gateway,
  request: Request,
  path: string,
  known: EndpointFacts,
  peer: Peer = {},
): Call {
  const { generation, state, world, metrics } = gateway;
  const id = world.uuid();
  const report = newReport(id, request.method, path, world.now());
  const headers = requestHeaders(request, peer.fields);
  const endpoint = factsFor(known, { path, headers });
  report.endpoint = endpoint;
  const controls = parseControls(headers);
  report.traceparent = headers.get("traceparent");
  metrics.began(endpoint.path);
  const cancellation = state.inFlight.start(id);
  const clientOf = clientOver(peer);
  const client = () => clientOf(call);
  const call: Call = {
    id,
    method: request.method,
    path,
    headers,
    controls,
    cancellation,
    abort: peer.abort,
    generation,
    state: stateForCall(state, {
      cancellation,
      report,
      client,
      refuseRead: () => request.method === "GET" ? refuseResponse(call) : null,
    }),
    clientOf: client,
    turns: clientTurns(state.turns, client),
    world,
    metrics,
    report,
    caller: { name: null, isIsolated: false },
    client: newCallClient(),
    upstreamHeaders: {},
    capture: null,
    planned: gateway.planned,
    bodyBytes: 0,
    bodyHasEnded: false,
    responseHeaders: state.inFlight.isDraining ? { connection: "close" } : {},
  };
  hideKeyInPath(call);
  call.capture = gateway.newCapture(call);
  recordSession(call);
  gateway.began?.(report, headers);
  return call;
}

/**
 * Returns the header fields of a request. Those of a request from the listener are put into a table
 * once: the runtime's `Headers` converts the name and compares all fields for each lookup, which
 * costs 2 % of a small request. Where a runtime has no list of fields, and for requests made in
 * this process, `Headers` is used.
 */
export function requestHeaders(
  request: Request,
  fields = listenerFields(request),
): RequestHeaders {
  return fields === null ? request.headers : new FieldTable(fields);
}
