import type { JsonDocument, JsonObject } from "../../../core/json/json.ts";
import { type Failed, type Result, success } from "../../../core/result.ts";
import type { ChatRequest } from "../../../wires/chat_request/chat_request.ts";
import { newStrictSchemas, type StrictSchemas } from "../../../wires/verified/strict_schemas.ts";
import type { Target, WireName } from "../../../wires/wire.ts";
import type { MessageLabels } from "../generate/encoder.ts";
import type { MessagesRequest } from "../request.ts";
import { chatDocument, copiedField, newField } from "./chat_text.ts";
import { clientPath, lossyPaths, type Origins, toClientPaths } from "./error_paths.ts";
import { chatOptions } from "./options.ts";
import { refusedField } from "./refused_fields.ts";
import { thinkingOf } from "./thinking.ts";
import { choiceFields, parseToolChoice, type ToolChoice } from "./tool_choice.ts";
import { type DeclaredTools, declaredTools, sentTools, toolsField } from "./tools.ts";
import { type Dialogue, dialogueOf } from "./turns.ts";

/** Chat request that was translated from a Messages request. */
export interface TranslatedRequest {
  readonly chat: ChatRequest;
  /** Client's paths of the fields that the Chat request carries only in part. */
  readonly lossy: readonly string[];
  /** How the thinking of the upstream is sent to the client. */
  readonly thinking: MessageLabels["thinking"];
  /** Returns the client's name of a tool for the name that the upstream uses. */
  toolName(name: string): string;
  /** Returns a wire's refusal of the Chat request with the paths of the client's own request. */
  toClientPaths(refused: Failed): Failed;
  /** Returns the client's path of a field of the Chat request. */
  clientPath(path: string): string;
  /** Returns the client's paths of the fields of the Chat request that a wire carries in part. */
  lossyPaths(paths: readonly string[]): readonly string[];
}

/** The parts of a request that are the same for all targets of one protocol in one route. */
interface SharedParts {
  readonly tools: DeclaredTools;
  readonly choice: ToolChoice | null;
  readonly dialogue: Dialogue;
  readonly messagesText: string;
}

/** Translation of one Messages request into Chat requests. */
export interface ChatTranslation {
  /**
   * Returns the request for a target. Refuses a field that the target cannot carry, in the words of
   * the Messages API.
   */
  translate(target: Target): Result<TranslatedRequest>;
  /**
   * Returns the Chat messages for a protocol if the route leaves out hosted tools of these types;
   * none if the request is refused.
   */
  messages(wire: WireName, omitTools: readonly string[]): readonly JsonObject[];
}

/** Returns the translation of a request. Targets of one protocol share its parts. */
export function newChatTranslation(request: MessagesRequest): ChatTranslation {
  const { document } = request;
  const shared = new Map<string, Result<SharedParts>>();
  const schemas = newStrictSchemas();

  function partsFor(wire: WireName, omitTools: readonly string[]): Result<SharedParts> {
    const key = [wire, ...omitTools].join(" ");
    const parts = shared.get(key) ?? sharedParts(document, wire, omitTools);
    shared.set(key, parts);
    return parts;
  }

  return {
    translate(target) {
      const refused = refusedField(document.value);
      if (refused !== null) return refused;
      const parts = partsFor(target.wire.name, target.omitTools ?? []);
      return parts.ok ? translated(request, parts.value, target, schemas) : parts;
    },
    messages(wire, omitTools) {
      const parts = partsFor(wire, omitTools);
      return parts.ok ? parts.value.dialogue.messages.map(({ message }) => message) : [];
    },
  };
}

function sharedParts(
  document: JsonDocument,
  wire: WireName,
  omitTools: readonly string[],
): Result<SharedParts> {
  const tools = declaredTools(document, wire, omitTools);
  if (!tools.ok) return tools;
  const choice = parseToolChoice(document.value.tool_choice);
  if (!choice.ok) return choice;
  const dialogue = dialogueOf(document, tools.value, wire);
  if (!dialogue.ok) return dialogue;
  const messagesText = JSON.stringify(dialogue.value.messages.map(({ message }) => message));
  return success({
    tools: tools.value,
    choice: choice.value,
    dialogue: dialogue.value,
    messagesText,
  });
}

function translated(
  { document, stream }: MessagesRequest,
  { tools, choice, dialogue, messagesText }: SharedParts,
  target: Target,
  schemas: StrictSchemas,
): Result<TranslatedRequest> {
  const lossy = [...dialogue.lossy, ...tools.lossy];
  const options = chatOptions(document, target, lossy);
  if (!options.ok) return options;
  const thinking = thinkingOf(document.value, dialogue.efforts, target);
  if (!thinking.ok) return thinking;
  const mentioned = new Set(dialogue.mentioned);
  if (choice !== null && choice.name !== null) mentioned.add(choice.name);
  const sent = sentTools(tools, mentioned);
  const choices = choiceFields(choice, tools, sent.length > 0, target.wire.name);
  if (!choices.ok) return choices;
  const messages = dialogue.messages.map(({ message }) => message);
  const [limit, ...others] = options.value;
  const chat = chatDocument([
    newField("model", target.model),
    ...limit === undefined ? [] : [limit],
    // The terminal event always holds the usage, so it is always requested.
    ...stream
      ? [newField("stream", true), newField("stream_options", { include_usage: true })]
      : [],
    ...thinking.value.fields,
    ...others,
    ...choices.value,
    copiedField("messages", messages, messagesText),
    ...toolsField(sent),
  ]);
  const isNewFormat = (document.value.output_format ?? null) === null;
  const origins: Origins = {
    messages: dialogue.messages,
    tools: sent.map(({ index }) => index),
    format: isNewFormat ? "output_config.format" : "output_format",
  };
  return success({
    chat: { document: chat, stream, includeUsage: stream, thinks: thinking.value.thinks, schemas },
    lossy: [...thinking.value.lossy, ...lossy],
    thinking: thinking.value.shown,
    toolName: (name) => tools.original.get(name) ?? name,
    toClientPaths: (refused) => toClientPaths(refused, origins),
    clientPath: (path) => clientPath(path, origins),
    lossyPaths: (paths) => lossyPaths(paths, origins),
  });
}
