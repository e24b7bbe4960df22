import type { HistoryItem } from "../../../src/api/responses/history_item.ts";
import {
  parsePrompt,
  type ResponsesPrompt,
} from "../../../src/api/responses/parse/parse_prompt.ts";
import { parseResponsesRequest } from "../../../src/api/responses/request.ts";
import { CHAT_ORDER } from "../../../src/api/responses/translated.ts";
import { isRefusal } from "../../../src/core/failure/failure.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import { type Result, success } from "../../../src/core/failure/result.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { encodePromptFor, newTargetCarrier } from "../../../src/wires/prompt_encoder.ts";
import { wires } from "../../../src/wires/registry.ts";
import { newStrictSchemas } from "../../../src/wires/verified/strict_schemas.ts";
import type { Target, UpstreamRequest, WireName } from "../../../src/wires/wire.ts";
import { assert } from "../../support/assert.ts";
import { providerOf, targetAt, valueOf } from "../../support/translated.ts";

/** A request as a prompt, and the paths that are lost before its wire encodes it. */
export interface Translated extends ResponsesPrompt {
  readonly lossy: readonly string[];
  encode(): Result<UpstreamRequest>;
}

/** The road from a body's text to the prompt for a target; `kept` are items from before. */
export function translateFor(
  target: Target,
  body: JsonObject | string,
  kept: readonly JsonObject[] = [],
): Result<Translated> {
  const document = parseDocument(typeof body === "string" ? body : JSON.stringify(body));
  assert(document.ok);
  const request = parseResponsesRequest(document.value);
  if (!request.ok) return request;
  const items: HistoryItem[] = [
    ...kept.map((item) => ({ item, path: null })),
    ...request.value.input.map((item, index) => ({ item, path: `input[${index}]` })),
  ];
  const carrier = newTargetCarrier(target);
  const parsed = parsePrompt(request.value, items, { wire: target.wire.name, carrier });
  if (!parsed.ok) return parsed;
  const { prompt } = parsed.value;
  const encoding = { target, carrier, schemas: newStrictSchemas(), chatOrder: CHAT_ORDER };
  return success({
    ...parsed.value,
    lossy: carrier.done().lossy ?? [],
    encode: () => encodePromptFor(prompt, encoding),
  });
}

/** The same for a provider without settings. */
export function translate(
  body: JsonObject | string,
  wire: WireName = "compat",
  kept: readonly JsonObject[] = [],
): Result<Translated> {
  return translateFor(targetAt(providerOf(wires[wire]), wires[wire], ""), body, kept);
}

/** The prompt for these fields and a short input, as a Chat request. */
export function chatOf(
  body: JsonObject,
  wire: WireName = "compat",
  kept: readonly JsonObject[] = [],
): JsonObject {
  const { prompt } = valueOf(translate({ input: "hi", ...body }, wire, kept));
  const { model = "" } = body;
  assert(typeof model === "string");
  const target = targetAt(providerOf(wires.compat), wires.compat, model);
  const carrier = newTargetCarrier(target);
  const encoding = { target, carrier, schemas: newStrictSchemas(), chatOrder: CHAT_ORDER };
  const text = valueOf(encodePromptFor(prompt, encoding)).payload?.text() ?? "";
  return valueOf(parseDocument(text)).value;
}

/** The messages of the prompt for these items, as those of a Chat request. */
export function messagesOf(
  input: JsonValue[],
  wire: WireName = "compat",
  kept: readonly JsonObject[] = [],
): readonly JsonObject[] {
  const { messages } = chatOf({ input }, wire, kept);
  return Array.isArray(messages) ? messages.filter(isObject) : [];
}

/** The code and the path of the refusal. */
export function refusalOf(
  result: Result<unknown>,
): readonly [code: string, param: string | null] {
  assert(!result.ok && isRefusal(result.failure), JSON.stringify(result));
  return [result.failure.kind, result.failure.at];
}
