import type { Reply } from "../../core/reply.ts";
import { type Awaitable, type Failed, refuse, type Result, whenReady } from "../../core/result.ts";
import type { Call } from "../../call/call.ts";
import type { Generation } from "../../call/generation.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { ADDRESS_PREFIX } from "../../state/buckets.ts";
import { refuseEndpoint } from "../../call/permissions.ts";
import { authenticate } from "./auth.ts";
import { meterCall } from "./client_limits.ts";
import { newGuard } from "./browser_guard.ts";
import { isClientCall } from "./overload.ts";
import type { Peer } from "../peer.ts";
import { REMOTE_CONTROL, takeAddressToken, takeRemoteToken, takeToken } from "./rate_limit.ts";

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

/**
 * Groups of an IPv6 address that identify a network; a host can choose the remaining groups freely
 * (RFC 4291).
 */
const NETWORK_GROUP_COUNT = 4;

/**
 * Returns the network of a client's address for rate limiting. An IPv4 address is its own network,
 * also in IPv6 form (`::ffff:192.0.2.1`); an IPv6 address counts as its /64.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const [bare = ""] = address.split("%");
  const hostname = URL.parse(`http://[${bare}]`)?.hostname;
  if (hostname === undefined) return address;
  const groups = groupsOf(hostname.slice(1, -1));
  const isMapped = groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff";
  if (isMapped) return ipv4Text(groups.slice(6));
  return `${groups.slice(0, NETWORK_GROUP_COUNT).join(":")}::/64`;
}

/**
 * Returns the eight groups of an IPv6 address in its shortest form, in which `::` replaces zeros.
 */
function groupsOf(address: string): readonly string[] {
  const [left = "", right] = address.split("::");
  const before = left.split(":").filter(Boolean);
  const after = (right ?? "").split(":").filter(Boolean);
  return [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after];
}

function ipv4Text(groups: readonly string[]): string {
  return groups.flatMap((group) => {
    const number = parseInt(group, 16);
    return [number >> 8, number & 255];
  }).join(".");
}
