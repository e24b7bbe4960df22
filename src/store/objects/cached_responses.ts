import { areTexts } from "./conversations.ts";
import { isObject, numberOf } from "../../core/json/json.ts";
import type { HttpResponse } from "../../core/stream/reply.ts";
import type { CachedResponses } from "../cached_responses.ts";
import { keyText } from "../key_text.ts";
import { headBytes } from "../records/bounds.ts";
import { heldBytes } from "../retention.ts";
import type { ContentBytes } from "./content_codec.ts";
import type { RecordRules } from "./record_rules.ts";

const TYPE = "cached_response";

/** Overhead of a stored response besides its key and content. */
const OVERHEAD_BYTES = 256;

/** Returns the cached responses of a store. */
export function newCachedResponses<Body>(
  { records, content, bounds }: RecordRules<Body>,
): CachedResponses {
  return {
    async get(key, turn = () => null) {
      const found = await records.get([{ type: TYPE, id: keyText(key) }], { content: "body" });
      const body = found.ok ? found.value[0]?.body ?? null : null;
      if (body === null) return null;
      await turn(content.sizeOf(body));
      const decoded = await content.decodeBytes(TYPE, keyText(key), body);
      return decoded.ok ? decodeResponse(decoded.value) : null;
    },
    async set(key, { status, headers, body: sent }, ttlMs) {
      const id = keyText(key);
      const value = { status, headers: { ...headers } };
      const bytes = heldBytes(value) + sent.length + OVERHEAD_BYTES;
      const lifeMs = Math.floor(ttlMs);
      if (headBytes(id, "") + bytes > bounds[TYPE].bytes || lifeMs < 1) return;
      const body = { body: await content.encodeBytes(TYPE, id, { value, bytes: sent }), bytes };
      const next = { head: "", body, parts: [], share: "", lifeMs };
      await records.commit([{ id: { type: TYPE, id }, expected: "any", next }]);
    },
  };
}

/** Returns the response in stored content; null if it is none. */
function decodeResponse({ value, bytes: body }: ContentBytes): HttpResponse | null {
  if (!isObject(value)) return null;
  const status = numberOf(value.status);
  const { headers } = value;
  return status === null || !areTexts(headers) ? null : { status, headers, body };
}
