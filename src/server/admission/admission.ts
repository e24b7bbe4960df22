import type { Reply } from "../../core/reply.ts";
import { type Failed, refuse, type Result } from "../../core/result.ts";
import type { Call } from "../../call/call.ts";
import type { Generation } from "../../call/generation.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { authenticate } from "./auth.ts";
import { clientNetwork } from "./client_network.ts";
import { newGuard } from "./browser_guard.ts";
import type { Peer } from "../peer.ts";
import { takeAddressToken, takeToken } from "./rate_limit.ts";

/** What ends a call before its body is read: a refusal or a finished answer; null lets it pass. */
export type Admission = (
  call: Call,
  request: Pick<Request, "url">,
  peer: Peer,
) => Result<Reply> | null;

/**
 * Runs before the body is read: the framing and the browser rules for every path, then client key and rate for all
 * below `/v1/`, served there or not. A request without a valid key counts against its address. The
 * rate is in the headers of every answer that key and rate cover, not in those of the browser rules.
 */
export function newAdmission({ generation, hostname }: Gateway): Admission {
  const guard = newGuard(generation.config.server, hostname);
  return (call, request, peer) => {
    const answer = refuseFraming(call) ?? guard(call, request, peer);
    if (answer !== null || !call.path.startsWith("/v1/")) return answer;
    return admitWithKey(call, peer);
  };
}

/**
 * Returns the refusal of a request whose head frames its body in two ways: something before the gateway
 * may have taken the other one, so the connection ends, also where the body is of no account.
 */
function refuseFraming({ headers, answerHeaders }: Call): Failed | null {
  if (!headers.has("transfer-encoding") || !headers.has("content-length")) return null;
  answerHeaders["connection"] = "close";
  return refuse(
    "invalid_request_framing",
    "The request has both Content-Length and Transfer-Encoding; send one of them.",
  );
}

/** Key and rate again, for one more message on a socket: as the configuration of this moment has them. */
export function admitTurn(call: Call, generation: Generation, peer: Peer): Failed | null {
  return admitWithKey({ ...call, generation }, peer);
}

function admitWithKey(call: Call, peer: Peer): Failed | null {
  const key = authenticate(call);
  const network = () => clientNetwork(addressOf(peer));
  return key.ok ? takeToken(call, key.value, network) : takeAddressToken(call, network) ?? key;
}

/** Forwarding headers are not looked at: anybody can write them. */
function addressOf({ remoteAddr }: Peer): string {
  return remoteAddr !== undefined && "hostname" in remoteAddr ? remoteAddr.hostname : "";
}
