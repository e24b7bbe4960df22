import { refusalWords } from "../../../src/api/messages/refusal_words.ts";
import { parseMessagesRequest } from "../../../src/api/messages/request.ts";
import { type MessagesPrompt, parsePrompt } from "../../../src/api/messages/parse/parse_prompt.ts";
import { isRefusal } from "../../../src/core/failure/failure.ts";
import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
} from "../../../src/core/json/json.ts";
import { type Result, success } from "../../../src/core/failure/result.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { encodePromptFor, newTargetCarrier } from "../../../src/wires/prompt_encoder.ts";
import { wires } from "../../../src/wires/registry.ts";
import { pathsOf } from "../../../src/prompt/response_promise.ts";
import { newStrictSchemas } from "../../../src/wires/verified/strict_schemas.ts";
import type { Target, WireName } from "../../../src/wires/wire.ts";
import { assert } from "../../support/assert.ts";
import { providerOf, targetAt, valueOf, type Written } from "../../support/translated.ts";

/** The protocols to which requests are translated. */
export const TRANSLATED = ["compat", "local", "responses"] as const;

/** Capabilities that a translation asks for. */
export const ABLE: Written = {
  capabilities: { structured_outputs: true, reasoning_effort: true },
};

/** The least that a request needs besides its messages. */
const REST = { model: "claude", max_tokens: 100 };

const USER = { role: "user", content: "hi" };

/** Returns a target of this protocol with these settings. */
export function targetOf(wire: WireName, written: Written = {}): Target {
  return targetAt(providerOf(wires[wire], written), wires[wire]);
}

/** A request as a prompt for one protocol, and as the Chat request that says the same. */
export interface TranslatedRequest extends MessagesPrompt {
  /** Paths that are lost before the wire encodes the prompt. */
  readonly lossy: readonly string[];
  readonly chat: { readonly document: JsonDocument };
}

/** Request of a target, with the paths of its fields. */
export interface EncodedMessage {
  readonly text: string;
  readonly lossy: readonly string[];
  readonly verified: readonly string[];
}

function parse(body: JsonObject | string, target: Target) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const document = valueOf(parseDocument(text));
  const request = valueOf(parseMessagesRequest(document, new URLSearchParams()));
  const encoding = { target, carrier: newTargetCarrier(target), schemas: newStrictSchemas() };
  return { parsed: parsePrompt(request, encoding), encoding };
}

/** Translates the text or the fields of a request. */
export function translate(
  body: JsonObject | string,
  wire: WireName = "compat",
  written: Written = {},
): Result<TranslatedRequest> {
  const { parsed, encoding } = parse(body, targetOf(wire, written));
  if (!parsed.ok) return parsed;
  const { lossy = [] } = encoding.carrier.done();
  const { payload } = valueOf(wires.compat.encodePrompt(parsed.value.prompt, encoding));
  const document = valueOf(parseDocument(payload?.text() ?? ""));
  return success({ ...parsed.value, lossy, chat: { document } });
}

/** Encodes the text or the fields of a request for a target. */
export function encode(
  body: JsonObject | string,
  wire: WireName,
  written: Written = {},
): Result<EncodedMessage> {
  const { parsed, encoding } = parse(body, targetOf(wire, written));
  if (!parsed.ok) return parsed;
  const encoded = encodePromptFor(parsed.value.prompt, encoding);
  if (!encoded.ok) return encoded;
  const { payload, lossy = [], promises = [] } = encoded.value;
  return success({
    text: payload?.text() ?? "",
    lossy,
    verified: pathsOf(promises),
  });
}

/** Translates these fields next to a short dialogue. */
export function translateFields(
  fields: JsonObject,
  wire: WireName = "compat",
  written: Written = {},
): Result<TranslatedRequest> {
  return translate({ ...REST, messages: [USER], ...fields }, wire, written);
}

/** The Chat request for these fields, without the fields that every request has. */
export function fieldsOf(
  fields: JsonObject,
  wire: WireName = "compat",
  written: Written = {},
): JsonObject {
  const { model: _, messages: __, max_completion_tokens: ___, ...others } = valueOf(
    translateFields(fields, wire, written),
  ).chat.document.value;
  return others;
}

/** The Chat messages of these messages. */
export function messagesOf(
  messages: JsonValue[],
  wire: WireName = "compat",
  more: JsonObject = {},
): readonly JsonObject[] {
  const { chat } = valueOf(translate({ ...REST, messages, ...more }, wire));
  const made = chat.document.value.messages;
  return Array.isArray(made) ? made.filter(isObject) : [];
}

/** Translates messages with the least that a request needs. */
export function translateMessages(
  messages: JsonValue[],
  wire: WireName = "compat",
  more: JsonObject = {},
): Result<TranslatedRequest> {
  return translate({ ...REST, messages, ...more }, wire);
}

/** Kind, path and sentence of a refusal. */
export function refusalOf(
  result: Result<unknown>,
): readonly [kind: string, param: string | null, message: string] {
  assert(!result.ok && isRefusal(result.failure), JSON.stringify(result));
  const { kind, at } = result.failure;
  return [kind, at, refusalWords(result.failure)];
}

/** Encodes these fields next to a short dialogue. */
export function encodeFor(
  fields: JsonObject,
  wire: WireName,
  written: Written = {},
): Result<EncodedMessage> {
  return encode({ ...REST, messages: [USER], ...fields }, wire, written);
}

/** The client's paths of the fields that the gateway checks on the response. */
export function promisesOf(fields: JsonObject, wire: WireName): readonly string[] {
  return valueOf(encodeFor(fields, wire)).verified;
}
