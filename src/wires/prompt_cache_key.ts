import { createHash } from "node:crypto";
import { parseMembers } from "../formats/edit.ts";
import { newPayload } from "./payload.ts";
import type { UpstreamRequest, WireName } from "./wire.ts";

const MEMBER = "prompt_cache_key";

/** Length of a made key, of the 43 characters of the whole digest. */
const DIGEST_CHARS = 32;

/** True if the protocol has keys of a prompt cache, in requests with this path. */
export function hasPromptCacheKey(wire: WireName, { path }: UpstreamRequest): boolean {
  return wire === "compat" && path === "/chat/completions" ||
    wire === "responses" && path === "/responses";
}

/**
 * Returns a request with a digest of its session as the key of the prompt cache, unless the client
 * has set one.
 */
export function withPromptCacheKey(request: UpstreamRequest, session: string): UpstreamRequest {
  const { payload } = request;
  if (payload === null) return request;
  return {
    ...request,
    cachedAs: payload,
    payload: newPayload(() => {
      const text = payload.text();
      return hasMember(text) ? text : text.replace("{", () => `{"${MEMBER}":"${keyOf(session)}",`);
    }),
  };
}

function keyOf(session: string): string {
  const digest = createHash("sha256").update(session).digest("base64url");
  return `sy_${digest.slice(0, DIGEST_CHARS)}`;
}

/** True if the body has a key: only a text that has its name is parsed. */
function hasMember(text: string): boolean {
  return text.includes(`"${MEMBER}"`) && parseMembers(text).some(({ key }) => key === MEMBER);
}
