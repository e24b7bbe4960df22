import type { JsonObject } from "../../core/json/json.ts";
import type { Reply } from "../../core/stream/reply.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { utf8Bytes } from "../../formats/utf8.ts";

/** Returns a response with an object or a list that the gateway stores. */
export function storedReply(value: JsonObject): Result<Reply> {
  return success({ kind: "stored", value });
}

/** Returns a whole response of the gateway itself. */
export function jsonReply(value: JsonObject, status = 200): Result<Reply> {
  const headers = { "content-type": "application/json" };
  const body = utf8Bytes(JSON.stringify(value));
  return success({ kind: "whole", response: { status, headers, body } });
}
