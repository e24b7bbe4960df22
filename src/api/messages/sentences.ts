/** Client with which the sentences of this file were verified. */
export const VERIFIED_WITH = "Claude Code 2.1.330";

/** Maximum length of a key or a name of the client in a sentence. */
const MAX_SHOWN_CHARS = 64;

/** Maximum number of IDs that one sentence names. */
const MAX_SHOWN_IDS = 10;

/**
 * Sentences of the vendor's API (Messages API, errors). Clients compare the text: a client that
 * recognises a sentence repeats its request without the feature, so no word of it may change.
 */
export const SENTENCES = {
  extraInput: (path: string) => `${path}: Extra inputs are not permitted`,
  required: (path: string) => `${path}: Field required`,
  wrongInput: (path: string, expected: string) => `${path}: Input should be ${expected}`,
  effort: "This model does not support the effort parameter.",
  thinkingType: (path: string, type: string) => `${path}: ${type} is not supported`,
  maxTokens: (requested: string, most: string) =>
    `max_tokens: ${requested} > ${most}, which is the maximum allowed number of output tokens ` +
    "for this model",
  pdf: (path: string) => `${path}: This model does not support PDF input.`,
  imageUrl: (path: string) => `${path}: This model does not support images by URL.`,
  unexpectedTag: (path: string, tag: string, expected: readonly string[]) =>
    `${path}: Input tag '${shown(tag)}' found using 'type' does not match any of the expected ` +
    `tags: ${expected.map((one) => `'${one}'`).join(", ")}`,
  toolNotOffered: (path: string, type: string) =>
    `${path}: ${shown(type)} is not offered by this provider`,
  toolNamesNotUnique: "tools: Tool names must be unique.",
  unknownReference: (path: string, name: string) =>
    `${path}: Tool reference '${shown(name)}' not found in available tools`,
  unknownTool: (path: string, name: string) =>
    `${path}: Tool '${shown(name)}' not found in provided tools`,
  choiceWithoutTools: "tool_choice: tool_choice may only be specified while providing tools",
  unansweredCalls: (path: string, ids: readonly string[]) =>
    `${path}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
    `${shownIds(ids)}. Each \`tool_use\` block must have a corresponding \`tool_result\` block ` +
    "in the next message.",
  unexpectedResult: (path: string, id: string) =>
    `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${shown(id)}. Each ` +
    "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
  idsNotUnique: (path: string) => `${path}: \`tool_use\` ids must be unique`,
  noMessages: "messages: at least one message is required",
  emptyContent: (path: string) => `${path}: user messages must have non-empty content`,
  prefill: (path: string) =>
    `${path}: This model does not support assistant message prefill. The conversation must end ` +
    "with a user message.",
} as const;

/** Returns text of the client for a sentence, cut to a bounded length. */
export function shown(text: string): string {
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}...`;
}

function shownIds(ids: readonly string[]): string {
  const list = ids.slice(0, MAX_SHOWN_IDS).map(shown).join(", ");
  return ids.length > MAX_SHOWN_IDS ? `${list}, ...` : list;
}
