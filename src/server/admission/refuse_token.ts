import { type Failed, refuse } from "../../core/failure/result.ts";
import type { Call } from "../../call/call.ts";
import { MAX_TOKEN_CHARS, type TokenRefusal } from "../../access/tokens/verify.ts";
import { refuseOverloaded } from "../../traffic/call_memory.ts";

/** Seconds after which a client with a token of an issuer without usable keys may try again. */
const RETRY_S = 1;

/** Challenge of a refused token (RFC 6750, section 3). */
const CHALLENGE = 'Bearer realm="gateway", error="invalid_token"';

/**
 * Returns the refusal of a token. It says nothing of the claims before their signature is valid.
 */
export function refuseToken(call: Call, refusal: TokenRefusal): Failed {
  const { responseHeaders, world } = call;
  switch (refusal.kind) {
    case "not_permitted":
      return refuse(
        "token_not_permitted",
        "This token is valid, but no rule of the gateway fits its claims; ask its operator.",
      );
    case "unavailable":
      responseHeaders["retry-after"] = String(RETRY_S);
      return refuse(
        "issuer_unavailable",
        `The keys of the issuer '${refusal.issuer}' are not available; try again in ${RETRY_S} s.`,
      );
    case "busy":
      return refuseOverloaded(call, "requests", "verifies as many tokens as it can");
    case "expired":
      responseHeaders["www-authenticate"] = `${CHALLENGE}, error_description="expired"`;
      return refuse(
        "token_expired",
        `This token expired at ${timeText(refusal.at)}; send a new one.`,
      );
  }
  responseHeaders["www-authenticate"] = CHALLENGE;
  return refuse("invalid_api_key", invalidText(refusal, world.wall()));
}

type Invalid = Exclude<
  TokenRefusal,
  { readonly kind: "not_permitted" | "unavailable" | "busy" | "expired" }
>;

function invalidText(refusal: Invalid, wallMs: number): string {
  switch (refusal.kind) {
    case "malformed":
      return "This is neither a known client key nor a token; send one of them.";
    case "too_long":
      return `This token has more than ${MAX_TOKEN_CHARS} characters; send one with fewer claims.`;
    case "unknown_issuer":
    case "algorithm":
      return "This is not a token of a known issuer; send one that is.";
    case "unknown_key":
    case "signature":
      return "The signature of this token is not valid; send a new one.";
    case "audience":
    case "claims":
      return "This token is not for this gateway; send one that has its audience and names its client.";
    case "not_yet":
      return `The clocks differ: this token is of ${timeText(refusal.at)}, ` +
        `and the gateway has ${timeText(wallMs / 1000)}.`;
  }
}

/** Last second that a date can have. */
const MAX_TIME_S = 8.64e12;

/** Returns the time of a claim, which may be any number. */
function timeText(seconds: number): string {
  const time = Math.min(Math.max(Math.trunc(seconds), -MAX_TIME_S), MAX_TIME_S);
  return new Date(time * 1000).toISOString().replace(".000Z", "Z");
}
