import { type Result, success } from "../../core/result.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import { unsupported } from "../../prompt/refusals.ts";
import { newPostRequest } from "../post_request.ts";
import { allIn } from "../../prompt/read.ts";
import { formatPromises } from "../verified/format_promises.ts";
import type { Encoding, UpstreamRequest } from "../wire.ts";
import { encodeFormat, encodeThink } from "./controls.ts";
import { encodeOptions, runSettings } from "./options.ts";
import { encodeTools } from "./tools.ts";
import { encodeTurns } from "./turns.ts";

/**
 * Returns a prompt as a request of the runtime's own chat endpoint. The runtime ignores unknown keys
 * without an error, so only known fields are sent. A Refusal names the first field that cannot be
 * translated.
 */
export function encodePrompt(prompt: Prompt, encoding: Encoding): Result<UpstreamRequest> {
  const { target: { model, provider }, carrier, schemas } = encoding;
  const { settings } = provider;
  const verified = formatPromises(prompt, settings, schemas, true);
  const encoded = allIn({
    messages: encodeTurns(prompt, carrier),
    tools: encodeTools(prompt, encoding),
    format: encodeFormat(prompt, settings, { carrier, isVerified: verified.length > 0 }),
    think: encodeThink(prompt, provider),
    options: encodeOptions(prompt, settings),
  });
  if (!encoded.ok) return encoded;
  const { messages, tools, format, think, options } = encoded.value;
  const isCallRequired = tools.promises.some((promise) =>
    promise.kind === "tool_choice" && promise.isRequired
  );
  if (isCallRequired && format !== undefined && prompt.format !== null) {
    return unsupported(prompt.format.at.path, "Send it without a required tool call.");
  }
  const request = {
    model,
    messages,
    // The runtime streams unless `stream` is false.
    stream: prompt.stream,
    tools: tools.tools.length === 0 ? undefined : tools.tools,
    format: tools.callSchema ?? format,
    think,
    options: Object.keys(options).length === 0 ? undefined : options,
    ...runSettings(settings).topLevel,
  };
  const promises = [...tools.promises, ...verified];
  return success({ ...newPostRequest("/api/chat", request, promises), ...carrier.done() });
}
