import { isObject, parseJson } from "../../core/json/json.ts";
import type { HeaderFields } from "../../core/header_fields.ts";
import type { HttpResponse } from "../../core/reply.ts";
import type { CachedResponses } from "../cached_responses.ts";
import type { RecordCodec } from "../records/record_codec.ts";
import { keyText } from "../key_text.ts";
import type { Link } from "./link.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns the cached responses in a database. */
export function newSqliteCachedResponses(link: Link, codec: RecordCodec): CachedResponses {
  return {
    async get(key) {
      const found = await link.run("findCachedResponse", keyText(key));
      if (!found.ok || found.value === null) return null;
      const text = await codec.decode("cached_response", keyText(key), found.value);
      return text.ok ? parseResponse(text.value) : null;
    },
    async set(key, response, ttlMs) {
      const body = await codec.encode("cached_response", keyText(key), textOf(response));
      const bytes = key.length + body.length;
      await link.run("storeCachedResponse", { key: keyText(key), body, bytes, ttlMs });
    },
  };
}

/** Returns a response as text: a line with status and headers, then the body. */
function textOf({ status, headers, body }: HttpResponse): string {
  const text = utf8(body);
  const isText = text !== null;
  return `${JSON.stringify({ status, headers, isText })}\n${text ?? body.toBase64()}`;
}

/** Returns bytes as text; null if they are not UTF-8. */
function utf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

function parseResponse(text: string): HttpResponse | null {
  const end = text.indexOf("\n");
  const head = parseJson(text.slice(0, end));
  if (!isObject(head) || typeof head.status !== "number" || !isHeaders(head.headers)) return null;
  const rest = text.slice(end + 1);
  const body = head.isText === true ? encoder.encode(rest) : Uint8Array.fromBase64(rest);
  return { status: head.status, headers: head.headers, body };
}

function isHeaders(value: unknown): value is HeaderFields {
  return isObject(value) && Object.values(value).every((one) => typeof one === "string");
}
