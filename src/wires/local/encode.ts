import type { ChatRequest } from "../chat_request/chat_request.ts";
import { type Result, success } from "../../core/result.ts";
import { newPostRequest } from "../chat_request/encoding.ts";
import { nesting } from "../chat_request/refusals.ts";
import { citationPaths } from "../chat_request/citations.ts";
import { argumentItemsProblem } from "../inner_json.ts";
import { unsupportedField } from "../chat_request/closed_fields.ts";
import type { Target, UpstreamRequest } from "../wire.ts";
import { ENCODED, encodeFormat, encodeThink } from "./controls.ts";
import { encodeOptions, runSettings } from "./options.ts";
import { encodeTools } from "./tools.ts";
import { encodeTurns } from "./turns.ts";

/**
 * Returns a Chat request as a request of the runtime's own chat endpoint. The runtime ignores
 * unknown keys without an error, so only known fields are sent. A Refusal names the first field
 * that cannot be translated.
 */
export function encode(chat: ChatRequest, target: Target): Result<UpstreamRequest> {
  const { document } = chat;
  const { settings } = target.provider;
  const refused = nesting(document.value) ?? unsupportedField(document.value, ENCODED) ??
    argumentItemsProblem(document.value.messages);
  if (refused !== null) return refused;
  const messages = encodeTurns(document.value.messages);
  if (!messages.ok) return messages;
  const tools = encodeTools(document);
  if (!tools.ok) return tools;
  const format = encodeFormat(document, target.provider);
  if (!format.ok) return format;
  const think = encodeThink(chat, target.provider);
  if (!think.ok) return think;
  const options = encodeOptions(document, settings);
  if (!options.ok) return options;
  const request = {
    model: target.model,
    messages: messages.value,
    // The runtime streams unless `stream` is false.
    stream: chat.stream,
    tools: tools.value.length === 0 ? undefined : tools.value,
    format: format.value,
    think: think.value,
    options: Object.keys(options.value).length === 0 ? undefined : options.value,
    ...runSettings(settings).topLevel,
  };
  const lossy = citationPaths(document.value.messages);
  return success({ ...newPostRequest("/api/chat", request), ...lossy.length > 0 && { lossy } });
}
