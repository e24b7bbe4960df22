import { refusalWords } from "../../../src/api/messages/refusal_words.ts";
import { parseMessagesRequest } from "../../../src/api/messages/request.ts";
import {
  newChatTranslation,
  type TranslatedRequest,
} from "../../../src/api/messages/translate/to_chat.ts";
import { isRefusal } from "../../../src/core/failure.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import type { Result } from "../../../src/core/result.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { encodeChatRequest } from "../../../src/wires/encode_chat_request.ts";
import { wires } from "../../../src/wires/registry.ts";
import { pathsOf } from "../../../src/wires/verified/response_promise.ts";
import type { Target, WireName } from "../../../src/wires/wire.ts";
import { assert } from "../../support/assert.ts";
import { providerOf, targetAt, valueOf, type Written } from "../../support/translated.ts";

/** The protocols to which requests are translated. */
export const TRANSLATED = ["compat", "local", "responses"] as const;

/** Capabilities that a translation asks for. */
export const ABLE: Written = {
  capabilities: { structured_outputs: true, reasoning_effort: true },
};

/** The least that a request needs beside its messages. */
const REST = { model: "claude", max_tokens: 100 };

/** Returns a target of this protocol with these settings. */
export function targetOf(wire: WireName, written: Written = {}): Target {
  return targetAt(providerOf(wires[wire], written), wires[wire]);
}

/** Translates the text or the fields of a request. */
export function translate(
  body: JsonObject | string,
  wire: WireName = "compat",
  written: Written = {},
): Result<TranslatedRequest> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const document = valueOf(parseDocument(text));
  const request = valueOf(parseMessagesRequest(document, new URLSearchParams()));
  return newChatTranslation(request).translate(targetOf(wire, written));
}

/** Translates these fields beside a short dialogue. */
export function translateFields(
  fields: JsonObject,
  wire: WireName = "compat",
  written: Written = {},
): Result<TranslatedRequest> {
  const messages = [{ role: "user", content: "hi" }];
  return translate({ ...REST, messages, ...fields }, wire, written);
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

/** Translates messages beside the least that a request needs. */
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

/** What the upstream is sent, or the refusal with the client's paths. */
export function encodeFor(
  body: JsonObject,
  wire: WireName,
  written: Written = {},
): Result<string> {
  const target = targetOf(wire, written);
  const translated = translateFields(body, wire, written);
  if (!translated.ok) return translated;
  const encoded = encodeChatRequest(translated.value.chat, target);
  return encoded.ok
    ? { ok: true, value: encoded.value.payload?.text() ?? "" }
    : translated.value.toClientPaths(encoded);
}

/** The client's paths of the fields that the gateway checks on the response. */
export function promisesOf(body: JsonObject, wire: WireName): readonly string[] {
  const translated = valueOf(translateFields(body, wire));
  const encoded = valueOf(encodeChatRequest(translated.chat, targetOf(wire)));
  return pathsOf(encoded.promises ?? []).map((path) => translated.clientPath(path));
}
