import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../core/json/json.ts";
import {
  changeMembers,
  findMember,
  parseElements,
  parseMembers,
  replaceValue,
  type Span,
  splice,
} from "../../formats/edit.ts";
import type { Carrier } from "../../prompt/carry.ts";
import { foldedIndexes, foldOrder, markedText, type PlacedKind } from "../../prompt/fold_system.ts";

/** A message of the folded request, with its text. */
interface WrittenMessage {
  readonly text: string;
  readonly message: JsonValue;
}

/**
 * Returns the request of a Chat client with its system messages folded as those of a prompt. All
 * other text is unchanged.
 */
export function foldSystemText(document: JsonDocument, { drop }: Carrier): JsonDocument {
  const { messages } = document.value;
  const member = document.members.find(({ key }) => key === "messages");
  if (!Array.isArray(messages) || member === undefined) return document;
  const texts = messages.map(systemText);
  const order = foldOrder(messages.map((message, index) => kindOf(message, texts[index] ?? null)));
  if (order === null) return document;
  for (const index of foldedIndexes(order)) drop(`messages[${index}].role`);
  const spans = parseElements(document.text, member.start);
  const textsOf = (indexes: readonly number[]) =>
    indexes.map((index) => markedText(texts[index] ?? ""));
  const written = order.map(({ index, isAdded, before, after }): WrittenMessage => {
    const own = [textsOf(before), textsOf(after)] as const;
    if (!isAdded) {
      return writtenMessage(messages[index] ?? null, spanText(document.text, spans[index]), ...own);
    }
    const message = { role: "user", content: own[0].join("\n\n") };
    return { text: JSON.stringify(message), message };
  });
  const list = `[${written.map(({ text }) => text).join(",")}]`;
  const text = splice(document.text, [replaceValue(member, list)]);
  const value = { ...document.value, messages: written.map(({ message }) => message) };
  return { text, value, members: parseMembers(text) };
}

function spanText(text: string, span: Span | undefined): string {
  return text.slice(span?.start, span?.end);
}

/** Returns the kind of a message. An instruction that is no text stays where it is. */
function kindOf(message: JsonValue, systemText: string | null): PlacedKind {
  if (!isObject(message)) return "other";
  const { role, content } = message;
  if (role === "system" || role === "developer") {
    return systemText === null ? "fixed" : "instruction";
  }
  if (role === "tool" || role === "function") return "result";
  const takesText = typeof content === "string" || Array.isArray(content);
  return role === "user" && takesText ? "user" : "other";
}

/** Returns the text of a system message; null for any other message. */
function systemText(message: JsonValue): string | null {
  if (!isObject(message) || message.role !== "system" && message.role !== "developer") return null;
  const { content } = message;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return null;
  const texts = content.flatMap((part) =>
    isObject(part) && part.type === "text" && typeof part.text === "string" ? [part.text] : []
  );
  return texts.length === content.length ? texts.join("") : null;
}

/** Returns a message with texts before and after its own. */
function writtenMessage(
  message: JsonValue,
  text: string,
  before: readonly string[],
  after: readonly string[],
): WrittenMessage {
  if (!isObject(message) || before.length === 0 && after.length === 0) return { text, message };
  const { content } = message;
  const value = typeof content === "string"
    ? JSON.stringify([...before, content, ...after].join("\n\n"))
    : partsText(text, before, after);
  const changed = splice(text, changeMembers(0, parseMembers(text), [["content", value]]));
  return { text: changed, message: { ...message, content: parseJson(value) ?? null } };
}

/** Returns the text of the user's parts with texts before and after them. */
function partsText(
  message: string,
  before: readonly string[],
  after: readonly string[],
): string {
  const content = findMember(message, 0, "content");
  const own = content === undefined
    ? []
    : parseElements(message, content.start).map((span) => spanText(message, span));
  const part = (text: string) => JSON.stringify({ type: "text", text } satisfies JsonObject);
  return `[${[...before.map(part), ...own, ...after.map(part)].join(",")}]`;
}
