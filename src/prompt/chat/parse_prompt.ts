import { isObject, type JsonDocument, type JsonObject } from "../../core/json/json.ts";
import { type Failed, type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../carry.ts";
import { exactMember } from "../exact_member.ts";
import type { Prompt } from "../prompt.ts";
import { allIn } from "../read.ts";
import { nesting, wrongType } from "../refusals.ts";
import { parseChoice } from "./parse_choice.ts";
import { parseFormat } from "./parse_format.ts";
import { parseMessages, type StoredReasoning } from "./parse_messages.ts";
import { parseOptions } from "./parse_options.ts";
import { parseTools } from "./parse_tools.ts";

/** A Chat request with what the gateway knows of it. */
export interface ChatPrompt {
  readonly document: JsonDocument;
  readonly stream: boolean;
  readonly reasoning?: StoredReasoning;
}

/**
 * Returns a Chat request as a prompt. A Refusal names the first field that is wrong or not carried:
 * of the top-level ones, then in the dialogue, the choice, the tools, the format and the options.
 */
export function parsePrompt(chat: ChatPrompt, carrier: Carrier): Result<Prompt> {
  const { document, stream, reasoning } = chat;
  const body = document.value;
  const refused = nesting(body) ?? carrier.useTopLevel(body) ?? streamProblem(body, carrier);
  if (refused !== null) return refused;
  const exact = (key: string) => exactMember(document, key);
  const choice = parseChoice(body, carrier);
  const isToolless = choice.ok && choice.value.kind === "none" && !carrier.hasChoice();
  const read = allIn({
    messages: parseMessages(body.messages, reasoning, carrier),
    choice,
    tools: parseTools(exact("tools"), exact("functions"), isToolless, carrier),
    format: parseFormat(exact("response_format"), carrier),
    options: parseOptions(body, exact, carrier),
  });
  if (!read.ok) return read;
  const { tools, options, ...others } = read.value;
  const parallel = body.parallel_tool_calls ?? null;
  if (parallel !== null && typeof parallel !== "boolean") {
    return wrongType("parallel_tool_calls", "true or false");
  }
  const { stream_options: streamOptions } = body;
  const at = { field: "parallel_tool_calls", path: "parallel_tool_calls" } as const;
  return success({
    at: { field: "messages", path: "messages" },
    ...others,
    ...tools,
    ...options,
    parallelCalls: parallel === null ? null : { value: parallel, at },
    stream,
    isUnpadded: isObject(streamOptions) && streamOptions.include_obfuscation === false,
  });
}

/** Returns the refusal of the stream options. Translated chunks lose the padding. */
function streamProblem(body: JsonObject, carrier: Carrier): Failed | null {
  const options = body.stream_options ?? null;
  if (options === null) return null;
  if (!isObject(options)) return wrongType("stream_options", "an object");
  const field = "stream_options.include_obfuscation";
  const padding = options.include_obfuscation ?? null;
  return (padding === null ? null : carrier.use({ field, path: field }, padding)) ??
    carrier.unknown(options, "stream_options", "stream_options");
}
