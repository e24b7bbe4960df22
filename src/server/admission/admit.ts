import { refuseDraining } from "../../traffic/in_flight.ts";
import type { Reply } from "../../core/stream/reply.ts";
import {
  type Awaitable,
  type Failed,
  refuse,
  type Result,
  whenReady,
} from "../../core/failure/result.ts";
import { type Call, REMOTE_CONTROL } from "../../call/call.ts";
import { requiresKey } from "../../access/presented_key.ts";
import type { Generation } from "../../call/generation.ts";
import type { ClientKey } from "../../access/client_key.ts";
import { Meter } from "../../access/meter.ts";
import { refuseEndpoint } from "../../access/permissions.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { Peer } from "../../runtime/peer.ts";
import { authenticate } from "./auth.ts";
import { newGuard } from "./browser_guard.ts";
import { networkClient } from "./client_network.ts";
import { callerRate, keyLimits, takeLimits } from "./limits.ts";
import { isClientCall } from "./overload.ts";

/**
 * Returns the result of a call that ends before its body is read: a refusal, or a response such as
 * that of a preflight; null to continue. It is a promise if the rates are in a shared store.
 */
export type Admission = (
  call: Call,
  request: Pick<Request, "url">,
  peer: Peer,
) => Awaitable<Result<Reply> | null>;

/**
 * Returns the admission of requests from the listener, which runs before the body is read: framing
 * and Host/Origin/CORS rules on every path, then client key, limits and permitted endpoint on
 * `/v1/*`, known or not, and on the paths of client APIs elsewhere. A request without a valid key
 * counts against its address. Rate-limit headers are sent with a 401 too, but not with responses of
 * the browser rules.
 */
export function newAdmission({ generation, hostname }: Gateway): Admission {
  const guard = newGuard(generation.config, hostname);
  return (call, request, peer) => {
    const stopped = refuseFraming(call) ?? guard(call, request, peer);
    if (stopped !== null || !isClientCall(call)) return stopped;
    return admitClient(call, peer);
  };
}

/**
 * Returns the refusal of a request with both Content-Length and Transfer-Encoding, or with a
 * transfer coding besides `chunked`, which the runtime does not decode. A proxy in front of the
 * gateway may have read another body (request smuggling), so the connection ends, even if the body
 * is ignored.
 */
function refuseFraming({ headers, responseHeaders }: Call): Failed | null {
  const coding = headers.get("transfer-encoding");
  if (coding === null) return null;
  const hasBoth = headers.has("content-length");
  if (!hasBoth && coding.trim().toLowerCase() === "chunked") return null;
  responseHeaders["connection"] = "close";
  return refuse(
    "invalid_request_framing",
    hasBoth
      ? "The request has both Content-Length and Transfer-Encoding; send one of them."
      : "The request has a transfer coding besides 'chunked'; send it without.",
  );
}

/**
 * Checks the client key, the rate limit and the permitted endpoint for one message on a socket,
 * with the current configuration. Returns the refusal; null if the message is admitted.
 */
export function admitTurn(
  call: Call,
  generation: Generation,
  peer: Peer,
): Awaitable<Failed | null> {
  return admitClient({ ...call, generation }, peer);
}

/**
 * Checks a call in this order: client key, limits of the key or of the address, permitted endpoint.
 * Then it is metered. A result that is there is returned without a turn of the event loop.
 */
function admitClient(call: Call, peer: Peer): Awaitable<Failed | null> {
  return whenReady(authenticate(call), (key) => admitKey(call, peer, key));
}

function admitKey(
  call: Call,
  peer: Peer,
  key: Result<ClientKey | null>,
): Awaitable<Failed | null> {
  const limits = key.ok && key.value !== null
    ? keyLimits(call, key.value)
    : callerRate(call, () => networkClient(peer));
  return whenReady(takeLimits(call, limits), (refusal) => {
    if (refusal !== null) return refusal;
    if (!key.ok) return key;
    const refused = refuseEndpoint(key.value, call.report.endpoint.api);
    if (refused === null && key.value !== null) call.client.meter = new Meter();
    return refused;
  });
}

/**
 * Returns a function that returns the client of a call over this connection, by which its turns and
 * its sockets are counted: its key once it is admitted, or its network without one.
 */
export function clientOver(peer: Peer): (call: Pick<Call, "client">) => string {
  let network: string | null = null;
  return ({ client }) => client.key?.caller ?? (network ??= networkClient(peer));
}

/**
 * Returns the admission of calls from the dashboard. Its channel is authenticated and comes from no
 * browser, so neither a client key nor the browser rules apply. Its rate is limited and its objects
 * are isolated as for any client. Refused as `draining` once the gateway shuts down, because
 * nothing else stops new calls of the channel.
 */
export function newRemoteAdmission({ state }: Gateway): Admission {
  return (call) => {
    const { generation, report, caller } = call;
    report.client = REMOTE_CONTROL;
    caller.name = REMOTE_CONTROL;
    caller.isIsolated = requiresKey(generation) && generation.config.security.isolate_clients;
    return state.inFlight.isDraining
      ? refuseDraining()
      : takeLimits(call, callerRate(call, () => REMOTE_CONTROL));
  };
}
