import type { Reply } from "../core/reply.ts";
import type { Failed, Result } from "../core/result.ts";
import type { Call } from "../gateway/call.ts";
import type { Generation } from "../gateway/generation.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { authenticate } from "./auth.ts";
import { newGuard } from "./guard.ts";
import { takeToken, tellRate } from "./rate_limit.ts";

/** Who is at the other end of a connection; absent when there is none. */
export type Peer = Partial<Pick<Deno.ServeHandlerInfo, "remoteAddr">>;

/** What ends a call before its body is read: a refusal or a finished answer; null lets it pass. */
export type Entrance = (call: Call, peer: Peer) => Result<Reply> | null;

/**
 * The browser rules for every path, before anything else; then key and rate for all below `/v1/`,
 * served there or not. What these two cover is told its rate, a 401 too; what the browser rules end,
 * preflights among it, never comes to them.
 */
export function newEntrance({ generation, hostname }: Gateway): Entrance {
  const guard = newGuard(generation.config.server, hostname);
  return (call, peer) => {
    const answer = guard(call);
    if (answer !== null || !call.path.startsWith("/v1/")) return answer;
    const key = authenticate(call);
    const address = () => addressOf(peer);
    if (key.ok) return takeToken(call, key.value, address);
    tellRate(call, address);
    return key;
  };
}

/** Key and rate again, for one more message on a socket: as the configuration of this moment has them. */
export function enterTurn(call: Call, generation: Generation, peer: Peer): Failed | null {
  const current = { ...call, generation };
  const key = authenticate(current);
  return key.ok ? takeToken(current, key.value, () => addressOf(peer)) : key;
}

/** Forwarding headers are not looked at: anybody can write them. */
function addressOf({ remoteAddr }: Peer): string {
  return remoteAddr !== undefined && "hostname" in remoteAddr ? remoteAddr.hostname : "";
}
