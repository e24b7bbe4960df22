import type { Carrier } from "./carry.ts";
import { textContent, textPart } from "./content.ts";
import type { Instruction, Message, Part, Prompt, UserTurn } from "./prompt.ts";

/**
 * Kind of a message, as far as its place decides where instructions go. A `fixed` one is an
 * instruction that stays where it is.
 */
export type PlacedKind = "instruction" | "fixed" | "user" | "result" | "other";

/** A message of a folded dialogue, with the instructions that are parts of it. */
export interface FoldedMessage {
  /** Index of the message, or of the first instruction of a message that has only instructions. */
  readonly index: number;
  readonly isAdded: boolean;
  /** Indexes of the instructions before and after the text of the message. */
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/**
 * Returns the order of messages in which each instruction behind the first other message is a part
 * of the user message next to it, at its place; null if there is no such instruction. Chat
 * templates of some models allow only one system message, at the head.
 */
export function foldOrder(kinds: readonly PlacedKind[]): readonly FoldedMessage[] | null {
  const begin = kinds.findIndex((kind) => kind !== "instruction" && kind !== "fixed");
  if (begin < 0 || kinds.lastIndexOf("instruction") < begin) return null;
  const list: (FoldedMessage & { readonly after: number[] })[] = [];
  let waiting: number[] = [];

  function closeWaiting() {
    const [index] = waiting;
    if (index !== undefined) list.push({ index, isAdded: true, before: waiting, after: [] });
    waiting = [];
  }

  for (const [index, kind] of kinds.entries()) {
    const last = list.at(-1);
    if (kind === "instruction" && index > begin) {
      const isNext = waiting.length === 0 && last !== undefined && kinds[last.index] === "user";
      (isNext ? last.after : waiting).push(index);
      continue;
    }
    // The results of calls must follow their message.
    if (kind !== "user" && kind !== "result") closeWaiting();
    const before = kind === "user" ? waiting : [];
    list.push({ index, isAdded: false, before, after: [] });
    if (kind === "user") waiting = [];
  }
  closeWaiting();
  return list;
}

/** Returns the indexes of the messages that lose their role, in their order. */
export function foldedIndexes(order: readonly FoldedMessage[]): readonly number[] {
  return order.flatMap(({ before, after }) => [...before, ...after]);
}

/** Returns the text of an instruction inside a message of the user. */
export function markedText(text: string): string {
  return `[system]\n${text}`;
}

/** Returns the prompt with its instructions folded. */
export function foldSystem(prompt: Prompt, carrier: Carrier): Prompt {
  const { messages } = prompt;
  const order = foldOrder(messages.map(({ kind }) => kind === "assistant" ? "other" : kind));
  if (order === null) return prompt;
  for (const index of foldedIndexes(order)) carrier.lose(`${messages[index]?.at.path}.role`);
  const partsOf = (indexes: readonly number[]) =>
    indexes.flatMap((index) => {
      const message = messages[index];
      return message?.kind === "instruction" ? [markedPart(message)] : [];
    });
  return {
    ...prompt,
    messages: order.flatMap(({ index, isAdded, before, after }) => {
      const message = messages[index];
      if (message === undefined) return [];
      const isPlain = before.length === 0 && after.length === 0;
      return isPlain ? [message] : [userTurn(message, isAdded, partsOf(before), partsOf(after))];
    }),
  };
}

/** Returns a message of the user, or an added one, with the instructions before and after it. */
function userTurn(
  { at, content, cache }: Message,
  isAdded: boolean,
  before: readonly Part[],
  after: readonly Part[],
): UserTurn {
  const own = isAdded ? [] : content?.parts ?? [];
  const parts = [...before, ...own, ...after];
  const isString = isAdded || content?.isString === true;
  const text = parts.map((part) => part.kind === "text" ? part.text : "").join("\n\n");
  const contentAt = isAdded ? at : content?.at ?? at;
  return {
    kind: "user",
    at: { ...at, field: "messages[user]" },
    cache: isAdded ? null : cache,
    content: isString ? textContent(text, contentAt) : { at: contentAt, isString, parts },
  };
}

function markedPart({ at, content }: Instruction): Part {
  const text = content.parts.map((part) => part.kind === "text" ? part.text : "").join("");
  return textPart(markedText(text), at);
}
