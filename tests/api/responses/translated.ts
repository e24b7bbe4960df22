import type { HistoryItem } from "../../../src/api/responses/history_item.ts";
import { parseResponsesRequest } from "../../../src/api/responses/request.ts";
import { toChat, type TranslatedRequest } from "../../../src/api/responses/translate/to_chat.ts";
import { isRefusal } from "../../../src/core/failure.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import type { Result } from "../../../src/core/result.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import type { WireName } from "../../../src/wires/wire.ts";
import { assert } from "../../support/assert.ts";

/** The road from a body's text to the hub; `kept` are items from before. */
export function translate(
  body: JsonObject | string,
  wire: WireName = "compat",
  kept: readonly JsonObject[] = [],
): Result<TranslatedRequest> {
  const document = parseDocument(typeof body === "string" ? body : JSON.stringify(body));
  assert(document.ok);
  const request = parseResponsesRequest(document.value);
  if (!request.ok) return request;
  const items: HistoryItem[] = [
    ...kept.map((item) => ({ item, path: null })),
    ...request.value.input.map((item, index) => ({ item, path: `input[${index}]` })),
  ];
  return toChat(request.value, items, wire);
}

/** The hub's request for these fields beside a short input. */
export function chatOf(body: JsonObject, wire: WireName = "compat"): JsonObject {
  const chat = translate({ input: "hi", ...body }, wire);
  assert(chat.ok, JSON.stringify(chat));
  return chat.value.document.value;
}

/** The hub's messages for these items. */
export function messagesOf(
  input: JsonValue[],
  wire: WireName = "compat",
  kept: readonly JsonObject[] = [],
): readonly JsonObject[] {
  const chat = translate({ input }, wire, kept);
  assert(chat.ok, JSON.stringify(chat));
  const { messages } = chat.value.document.value;
  return Array.isArray(messages) ? messages.filter(isObject) : [];
}

/** The code and the path of the refusal. */
export function refusalOf(
  result: Result<unknown>,
): readonly [code: string, param: string | null] {
  assert(!result.ok && isRefusal(result.failure), JSON.stringify(result));
  return [result.failure.kind, result.failure.at];
}
