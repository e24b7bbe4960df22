import type { ChatRequest } from "../chat_request/chat_request.ts";
import { type Result, success } from "../../core/result.ts";
import { posted } from "../chat_request/encoding.ts";
import { nesting } from "../chat_request/refusals.ts";
import { argumentItemsProblem } from "../inner_json.ts";
import { unsupportedField } from "../chat_request/closed_fields.ts";
import type { Target, UpstreamRequest } from "../wire.ts";
import { ENCODED, formatOf, thinkOf } from "./controls.ts";
import { optionsOf, runSettings } from "./options.ts";
import { toolsOf } from "./tools.ts";
import { turnsOf } from "./turns.ts";

/**
 * A Chat request as a call of the local runtime's own chat endpoint. The runtime ignores keys it
 * does not know without a word, so only what is known here is sent, and a Refusal names the first
 * field that cannot be kept.
 */
export function encode(chat: ChatRequest, target: Target): Result<UpstreamRequest> {
  const { document } = chat;
  const { settings } = target.provider;
  const refused = nesting(document.value) ?? unsupportedField(document.value, ENCODED) ??
    argumentItemsProblem(document.value.messages);
  if (refused !== null) return refused;
  const messages = turnsOf(document.value.messages);
  if (!messages.ok) return messages;
  const tools = toolsOf(document);
  if (!tools.ok) return tools;
  const format = formatOf(document, settings);
  if (!format.ok) return format;
  const think = thinkOf(document.value, settings);
  if (!think.ok) return think;
  const options = optionsOf(document, settings);
  if (!options.ok) return options;
  const request = {
    model: target.model,
    messages: messages.value,
    // The runtime streams unless it is told not to.
    stream: chat.stream,
    tools: tools.value.length === 0 ? undefined : tools.value,
    format: format.value,
    think: think.value,
    options: Object.keys(options.value).length === 0 ? undefined : options.value,
    ...runSettings(settings).topLevel,
  };
  return success(posted("/api/chat", request));
}
