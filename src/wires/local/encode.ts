import { type Result, success } from "../../core/failure/result.ts";
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
 * Returns a prompt as a request of the runtime's own chat endpoint. The runtime ignores unknown
 * keys without an error, so only known fields are sent. A Refusal names the first field that cannot
 * be translated.
 */
export function encodePrompt(prompt: Prompt, encoding: Encoding): Result<UpstreamRequest> {
  const { target: { model, provider }, carrier, schemas } = encoding;
  const { settings } = provider;
  const messages = encodeTurns(prompt, carrier);
  // Before the format: the schemas of a request share one bound, and a tool beyond it is refused.
  const tools = encodeTools(prompt, encoding);
  const verified = formatPromises(prompt, settings, schemas, true);
  const encoded = allIn({
    messages,
    tools,
    format: encodeFormat(prompt, settings, { carrier, isVerified: verified.length > 0 }),
    think: encodeThink(prompt, provider),
    options: encodeOptions(prompt, settings),
  });
  if (!encoded.ok) return encoded;
  const { format, think, options, tools: called } = encoded.value;
  const isCallRequired = called.promises.some((promise) =>
    promise.kind === "tool_choice" && promise.isRequired
  );
  if (isCallRequired && format !== undefined && prompt.format !== null) {
    return unsupported(prompt.format.at.path, "Send it without a required tool call.");
  }
  const request = {
    model,
    messages: encoded.value.messages,
    // The runtime streams unless `stream` is false.
    stream: prompt.stream,
    tools: called.tools.length === 0 ? undefined : called.tools,
    format: called.callSchema ?? format,
    think,
    options: Object.keys(options).length === 0 ? undefined : options,
    ...runSettings(settings).topLevel,
  };
  const promises = [...called.promises, ...verified];
  return success({ ...newPostRequest("/api/chat", request, promises), ...carrier.done() });
}
