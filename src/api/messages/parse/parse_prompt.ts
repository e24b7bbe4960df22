import type { JsonDocument } from "../../../core/json/json.ts";
import { type Failed, type Result, success } from "../../../core/failure/result.ts";
import type { Carrier } from "../../../prompt/carry.ts";
import type { StoredReasoning } from "../../../prompt/chat/parse_messages.ts";
import type { FunctionTool, Message, Prompt } from "../../../prompt/prompt.ts";
import { nesting } from "../../../prompt/refusals.ts";
import type { Target, Wire } from "../../../wires/wire.ts";
import { withReasoning } from "../../reasoning/reasoning_memory.ts";
import type { MessageLabels } from "../generate/encoder.ts";
import type { MessagesRequest } from "../request.ts";
import { parseChoice, promptChoice } from "./parse_choice.ts";
import { parseDialogue } from "./parse_dialogue.ts";
import { parseOptions } from "./parse_options.ts";
import { parseThinking } from "./parse_thinking.ts";
import { parseTools, sentTools } from "./parse_tools.ts";
import { refusedField } from "./refused_fields.ts";

/** A Messages request as a prompt. */
export interface MessagesPrompt {
  readonly prompt: Prompt;
  /** How the thinking of the upstream is sent to the client. */
  readonly thinking: MessageLabels["thinking"];
  /** True if the client has requested thinking. */
  readonly asksForThinking: boolean;
  /** Returns the client's name of a tool for the name that the upstream uses. */
  toolName(name: string): string;
}

/** Target of a parsed Messages request, and the facts that the gateway knows of it. */
export interface ParsedFor {
  readonly target: Target;
  readonly carrier: Carrier;
  /** Stored reasoning of the assistant messages of the prompt; absent for none. */
  readonly reasoning?: StoredReasoning;
  /** True if only the tokens of the request are counted. */
  readonly isCount?: boolean;
}

/**
 * Returns a Messages request as a prompt. A Refusal names the first field that is wrong or not
 * carried, in the words of the Messages API.
 */
export function parsePrompt(
  { document, stream }: MessagesRequest,
  { target, carrier, reasoning, isCount = false }: ParsedFor,
): Result<MessagesPrompt> {
  const { value } = document;
  const refused = refusedField(value);
  if (refused !== null) return refused;
  const { name: wire } = target.wire;
  const lossy: string[] = [];
  const toolLossy: string[] = [];
  const tools = parseTools(document, { wire, carrier, lossy: toolLossy });
  if (!tools.ok) return tools;
  const { byName, original } = tools.value;
  const given = parseChoice(value.tool_choice);
  if (!given.ok) return given;
  const mentioned = new Set<string>();
  const dialogue = parseDialogue(document, {
    wire,
    carrier,
    lossy,
    hasTool: (name) => byName.has(name),
    mention: (name) => void mentioned.add(name),
  });
  if (!dialogue.ok) return dialogue;
  const options = parseOptions(document, { target, lossy: toolLossy, isCount });
  if (!options.ok) return options;
  const thinking = parseThinking(value, dialogue.value.efforts, target);
  if (!thinking.ok) return thinking;
  if (given.value !== null && given.value.name !== null) mentioned.add(given.value.name);
  const sent = sentTools(tools.value, mentioned);
  const choice = promptChoice(given.value, tools.value, sent.length > 0, wire);
  if (!choice.ok) return choice;
  const { effort, shown, isRequested } = thinking.value;
  const prompt: Prompt = {
    at: { field: "messages", path: "messages" },
    messages: withReasoning(dialogue.value.messages, reasoning),
    tools: sent,
    hasLegacyTools: false,
    ...choice.value,
    ...options.value,
    effort,
    thinking: thinking.value.thinking,
    verbosity: null,
    logprobs: { isWanted: false, top: null },
    webSearch: null,
    stream,
    isUnpadded: false,
  };
  [...thinking.value.lossy, ...lossy, ...toolLossy].forEach(carrier.drop);
  const deep = wire === "compat" ? null : deepProblem(sent, prompt.format);
  return deep ?? useOptions(prompt, carrier) ?? success({
    prompt,
    thinking: shown,
    asksForThinking: isRequested,
    toolName: (name) => original.get(name) ?? name,
  });
}

/** Gives the options to the carrier after all fields have been found to be right. */
function useOptions(
  { sampling, limits, labels, stop, choice, parallelCalls, format, effort }: Prompt,
  carrier: Carrier,
): Failed | null {
  const { temperature, topP, topK } = sampling;
  const given = [limits.completion, temperature, topP, topK, stop, labels.user, labels.serviceTier];
  const others = [choice.kind === "unset" ? null : choice, parallelCalls, format, effort];
  for (const one of [...given, ...others]) {
    const refused = one === null ? null : carrier.use(one.at);
    if (refused !== null) return refused;
  }
  return null;
}

/** Returns the refusal of schemas that are nested too deeply, with the objects that hold them. */
function deepProblem(tools: readonly FunctionTool[], format: Prompt["format"]): Failed | null {
  return nesting({
    tools: [[tools.map(({ parameters }) => parameters.value)]],
    ...format?.kind === "json_schema" && { [format.at.path]: [[format.schema.value]] },
  });
}

/**
 * Returns the messages of a request for a target, to look up their reasoning; none if they are
 * refused.
 */
export function promptMessages(
  document: JsonDocument,
  wire: Wire,
  carrier: Carrier,
): readonly Message[] {
  const dialogue = parseDialogue(document, {
    wire: wire.name,
    carrier,
    lossy: [],
    hasTool: () => true,
    mention: () => {},
  });
  return dialogue.ok ? dialogue.value.messages : [];
}
