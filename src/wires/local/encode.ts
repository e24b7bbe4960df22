import type { ChatRequest } from "../chat_request/chat_request.ts";
import { type Result, success } from "../../core/result.ts";
import { newPostRequest } from "../chat_request/encoding.ts";
import { newLosses } from "../chat_request/losses.ts";
import { nesting, unsupported } from "../chat_request/refusals.ts";
import { authorNamePaths } from "../chat_request/author_names.ts";
import { citationPaths } from "../chat_request/citations.ts";
import { argumentItemsProblem } from "../../prompt/inner_json.ts";
import { unsupportedField } from "../chat_request/closed_fields.ts";
import { formatPromises } from "../verified/format_promises.ts";
import type { Target, UpstreamRequest } from "../wire.ts";
import { encodeFormat, encodeThink } from "./controls.ts";
import { FIELDS } from "./fields.ts";
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
  const refused = nesting(document.value) ??
    unsupportedField(document.value, FIELDS) ??
    argumentItemsProblem(document.value.messages);
  if (refused !== null) return refused;
  const losses = newLosses();
  const messages = encodeTurns(document.value.messages, losses);
  if (!messages.ok) return messages;
  const tools = encodeTools(chat, settings, { omitTools: target.omitTools ?? [], losses });
  if (!tools.ok) return tools;
  const format = encodeFormat(document, target.provider, losses);
  if (!format.ok) return format;
  const { callSchema } = tools.value;
  const isCallRequired = tools.value.promises.some((promise) =>
    promise.kind === "tool_choice" && promise.isRequired
  );
  if (isCallRequired && format.value !== undefined) {
    return unsupported("response_format", "Send it without a required tool call.");
  }
  const promises = [...tools.value.promises, ...formatPromises(chat, settings, true)];
  const think = encodeThink(chat, target.provider);
  if (!think.ok) return think;
  const options = encodeOptions(document, settings);
  if (!options.ok) return options;
  const request = {
    model: target.model,
    messages: messages.value,
    // The runtime streams unless `stream` is false.
    stream: chat.stream,
    tools: tools.value.tools.length === 0 ? undefined : tools.value.tools,
    format: callSchema ?? format.value,
    think: think.value,
    options: Object.keys(options.value).length === 0 ? undefined : options.value,
    ...runSettings(settings).topLevel,
  };
  for (const path of citationPaths(document.value.messages)) losses.add(path);
  for (const path of authorNamePaths(document.value.messages)) losses.add(path);
  return success({ ...newPostRequest("/api/chat", request, promises), ...losses.member() });
}
