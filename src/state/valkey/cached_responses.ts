import { Buffer } from "node:buffer";
import { isObject, type JsonObject, numberOf, parseJson } from "../../core/json/json.ts";
import type { HttpResponse } from "../../core/reply.ts";
import type { CachedResponses } from "../cached_responses.ts";
import { keyText } from "../key_text.ts";
import type { ValkeyRecords } from "./records.ts";
import { bytesOf } from "./reply.ts";
import { SET_CACHED_RESPONSE } from "./scripts/cached_response_scripts.ts";

/** What the server stores for a response besides its record: keys, ages, bytes. */
const OVERHEAD_BYTES = 256;

/** Returns the cached responses of a store. */
export function newValkeyCachedResponses(records: ValkeyRecords): CachedResponses {
  const { start, connection, codec, retention: { maxObjects, maxBytes } } = records;
  return {
    async get(key) {
      const reply = await connection.send("GET", [`${start}a:${keyText(key)}`]);
      const record = reply.kind === "reply" ? bytesOf(reply.value) : null;
      if (record === null) return null;
      const text = await codec.decode("cached_response", key, record);
      return text.ok ? decodeResponse(text.value) : null;
    },
    async set(key, response, ttlMs) {
      const text = encodeResponse(response);
      const bytes = Buffer.byteLength(text) + Buffer.byteLength(key) + OVERHEAD_BYTES;
      if (bytes > maxBytes || ttlMs < 1) return;
      const record = await codec.encode("cached_response", key, text);
      const args = [keyText(key), record, bytes, Math.floor(ttlMs), maxObjects, maxBytes];
      await records.run(SET_CACHED_RESPONSE, args);
    },
  };
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

function encodeResponse({ status, headers, body }: HttpResponse): string {
  const text = textIn(body);
  const content = text === null ? { base64: body.toBase64() } : { text };
  return JSON.stringify({ status, headers, ...content });
}

/** Returns the text of UTF-8 bytes; null if they are not UTF-8. */
function textIn(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** Returns the response in a record; null if it is none. */
function decodeResponse(record: string): HttpResponse | null {
  const value = parseJson(record);
  if (!isObject(value)) return null;
  const status = numberOf(value.status);
  const body = bodyIn(value);
  const { headers } = value;
  if (status === null || body === null || !isHeaders(headers)) return null;
  return { status, headers, body };
}

function bodyIn({ text, base64 }: JsonObject): Uint8Array<ArrayBuffer> | null {
  if (typeof text === "string") return encoder.encode(text);
  return typeof base64 === "string" ? Uint8Array.fromBase64(base64) : null;
}

function isHeaders(value: JsonObject[string]): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((one) => typeof one === "string");
}
