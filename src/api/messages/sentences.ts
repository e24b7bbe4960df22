/** Client with which the sentences of this file were verified. */
export const VERIFIED_WITH = "Claude Code 2.1.330";

/** Maximum length of a key or a name of the client in a sentence. */
const MAX_SHOWN_CHARS = 64;

/** Maximum number of IDs that one sentence names. */
const MAX_SHOWN_IDS = 10;

/**
 * Sentences of the vendor's API (Messages API, errors). Functions of a path return it
 * with the sentence; a refusal puts it before every other sentence except that of the effort. Clients
 * compare the text: a client that recognises a sentence repeats its request without the feature, so no
 * word of it may change.
 */
export const SENTENCES = {
  extraInput: (path: string) => `${path}: Extra inputs are not permitted`,
  required: (path: string) => `${path}: Field required`,
  wrongInput: (path: string, expected: string) => `${path}: Input should be ${expected}`,
  effort: "This model does not support the effort parameter.",
  thinkingType: (type: string) => `${type} is not supported`,
  maxTokens: (requested: string, most: string) =>
    `${requested} > ${most}, which is the maximum allowed number of output tokens ` +
    "for this model",
  pdf: "This model does not support PDF input.",
  imageUrl: "This model does not support images by URL.",
  unexpectedTag: (tag: string, expected: readonly string[]) =>
    `Input tag '${shown(tag)}' found using 'type' does not match any of the expected ` +
    `tags: ${expected.map((one) => `'${one}'`).join(", ")}`,
  toolNotOffered: (type: string) => `${shown(type)} is not offered by this provider`,
  toolNamesNotUnique: "Tool names must be unique.",
  unknownReference: (name: string) =>
    `Tool reference '${shown(name)}' not found in available tools`,
  unknownTool: (name: string) => `Tool '${shown(name)}' not found in provided tools`,
  choiceWithoutTools: "tool_choice may only be specified while providing tools",
  unansweredCalls: (ids: readonly string[]) =>
    `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
    `${shownIds(ids)}. Each \`tool_use\` block must have a corresponding \`tool_result\` block ` +
    "in the next message.",
  unexpectedResult: (id: string) =>
    `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${shown(id)}. Each ` +
    "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
  idsNotUnique: "`tool_use` ids must be unique",
  noMessages: "at least one message is required",
  emptyContent: "user messages must have non-empty content",
  prefill:
    "This model does not support assistant message prefill. The conversation must end with a user " +
    "message.",
} as const;

/** Returns text of the client for a sentence, cut to a bounded length. */
export function shown(text: string): string {
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}...`;
}

function shownIds(ids: readonly string[]): string {
  const list = ids.slice(0, MAX_SHOWN_IDS).map(shown).join(", ");
  return ids.length > MAX_SHOWN_IDS ? `${list}, ...` : list;
}
