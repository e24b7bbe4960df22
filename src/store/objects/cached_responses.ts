import { areTexts } from "./conversations.ts";
import { utf8Text } from "../../formats/utf8.ts";
import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import type { HttpResponse } from "../../core/stream/reply.ts";
import type { CachedResponses } from "../cached_responses.ts";
import { keyText } from "../key_text.ts";
import { headBytes } from "../records/bounds.ts";
import { heldBytes } from "../retention.ts";
import type { RecordRules } from "./record_rules.ts";

const TYPE = "cached_response";

/** Overhead of a stored response besides its key and content. */
const OVERHEAD_BYTES = 256;

const encoder = new TextEncoder();

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
      const value = await content.decode(TYPE, keyText(key), body);
      return value.ok ? decodeResponse(value.value) : null;
    },
    async set(key, response, ttlMs) {
      const id = keyText(key);
      const value = encodeResponse(response);
      const bytes = heldBytes(value) + OVERHEAD_BYTES;
      const lifeMs = Math.floor(ttlMs);
      if (headBytes(id, "") + bytes > bounds[TYPE].bytes || lifeMs < 1) return;
      const body = { body: await content.encode(TYPE, id, value), bytes };
      const next = { head: "", body, parts: [], share: "", lifeMs };
      await records.commit([{ id: { type: TYPE, id }, expected: "any", next }]);
    },
  };
}

function encodeResponse({ status, headers, body }: HttpResponse): JsonObject {
  const text = utf8Text(body);
  return {
    status,
    headers: { ...headers },
    ...text === null ? { base64: body.toBase64() } : { text },
  };
}

/** Returns the response in a stored value; null if it is none. */
function decodeResponse(value: JsonValue): HttpResponse | null {
  if (!isObject(value)) return null;
  const status = numberOf(value.status);
  const body = bodyIn(value);
  const { headers } = value;
  if (status === null || body === null || !areTexts(headers)) return null;
  return { status, headers, body };
}

function bodyIn({ text, base64 }: JsonObject): Uint8Array<ArrayBuffer> | null {
  if (typeof text === "string") return encoder.encode(text);
  return typeof base64 === "string" ? Uint8Array.fromBase64(base64) : null;
}
