import { type Awaitable, whenReady } from "../../core/awaitable.ts";
import type { Reply } from "../../core/reply.ts";
import { type Failed, refuse, type Result } from "../../core/result.ts";
import type { Call } from "../../call/call.ts";
import type { Generation } from "../../call/generation.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { ADDRESS_PREFIX } from "../../state/buckets.ts";
import { refuseEndpoint } from "../../call/permissions.ts";
import { authenticate } from "./auth.ts";
import { meterCall } from "./client_limits.ts";
import { clientNetwork } from "./client_network.ts";
import { newGuard } from "./browser_guard.ts";
import { isClientCall } from "./overload.ts";
import type { Peer } from "../peer.ts";
import { takeAddressToken, takeToken } from "./rate_limit.ts";

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
 * `/v1/*`, known or not, and on the paths of client APIs elsewhere. A request without a valid key counts against its address. Rate-limit headers are sent with a
 * 401 too, but not with responses of the browser rules.
 */
export function newAdmission({ generation, hostname }: Gateway): Admission {
  const guard = newGuard(generation.config, hostname);
  return (call, request, peer) => {
    const answer = refuseFraming(call) ?? guard(call, request, peer);
    if (answer !== null || !isClientCall(call)) return answer;
    return admitWithKey(call, peer);
  };
}

/**
 * Returns the refusal of a request with both Content-Length and Transfer-Encoding. A proxy in front
 * of the gateway may have used either header (request smuggling), so the connection ends, even if
 * the body is ignored.
 */
function refuseFraming({ headers, responseHeaders }: Call): Failed | null {
  if (!headers.has("transfer-encoding") || !headers.has("content-length")) return null;
  responseHeaders["connection"] = "close";
  return refuse(
    "invalid_request_framing",
    "The request has both Content-Length and Transfer-Encoding; send one of them.",
  );
}

/**
 * Checks the client key, the rate limit and the permitted endpoint for one message on a socket, with the current
 * configuration. Returns the refusal; null if the message is admitted.
 */
export function admitTurn(
  call: Call,
  generation: Generation,
  peer: Peer,
): Awaitable<Failed | null> {
  return admitWithKey({ ...call, generation }, peer);
}

function admitWithKey(call: Call, peer: Peer): Awaitable<Failed | null> {
  const key = authenticate(call);
  const network = () => clientNetwork(addressOf(peer));
  if (!key.ok) return whenReady(takeAddressToken(call, network), (refusal) => refusal ?? key);
  const { api } = call.report.endpoint;
  return whenReady(takeToken(call, key.value, network), (refusal) => {
    const refused = refusal ?? refuseEndpoint(key.value, api);
    if (refused === null && key.value !== null) meterCall(call);
    return refused;
  });
}

/** Returns the client of an admitted call, by which its sockets are counted: its key, or its network without one. */
export function clientOf({ client }: Call, peer: Peer): string {
  return client.key?.caller ?? ADDRESS_PREFIX + clientNetwork(addressOf(peer));
}

/**
 * Returns the address of a peer. Forwarding headers are ignored, because every client can set them.
 */
function addressOf({ remoteAddr }: Peer): string {
  return remoteAddr !== undefined && "hostname" in remoteAddr ? remoteAddr.hostname : "";
}
