import { type Result, success } from "../../core/failure/result.ts";
import type { Prompt } from "../../prompt/prompt.ts";
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
  const { target: { model, provider: { settings } }, carrier, schemas } = encoding;
  const messages = encodeTurns(prompt, carrier);
  // Before the format: the schemas of a request share one bound, and a tool beyond it is refused.
  const tools = encodeTools(prompt, encoding);
  const verified = formatPromises(prompt, settings, schemas, true);
  const encoded = allIn({
    messages,
    tools,
    format: encodeFormat(prompt, encoding, verified.length > 0),
    think: encodeThink(prompt, encoding),
    options: encodeOptions(prompt, encoding),
  });
  if (!encoded.ok) return encoded;
  const { format, think, options, tools: called } = encoded.value;
  if (called.isCallRequired && format !== undefined && prompt.format !== null) {
    return carrier.refuse({ path: prompt.format.at.path }, "Send it without a required tool call.");
  }
  carrier.promise(...verified);
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
  return success({ ...newPostRequest("/api/chat", request), ...carrier.done() });
}
