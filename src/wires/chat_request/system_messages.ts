import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../core/json/json.ts";
import {
  changeMembers,
  parseElements,
  parseMembers,
  replaceValue,
  type Span,
  splice,
} from "../../formats/edit.ts";

/** Line before the text of a system message inside a user message. */
const MARK = "[system]\n";

/** A request whose system messages are all at its head. */
export interface FoldedRequest {
  readonly document: JsonDocument;
  /** Where each message comes from. */
  readonly origins: readonly Origin[];
  /** Paths of the messages that lost their role. */
  readonly lossy: readonly string[];
}

/** The place of a folded message in the given request. */
export interface Origin {
  readonly index: number;
  /** Number of content parts that were added before those of the client. */
  readonly addedParts: number;
}

/** A message of the folded request. */
interface FoldedMessage {
  readonly origin: number;
  /**
   * Texts of system messages before and after the message; a message that was added has only texts.
   */
  readonly before: string[];
  readonly after: string[];
  /** Null if it consists of system messages only. */
  readonly message: JsonValue;
}

/**
 * Returns the request with each system message behind the first other message as a part of the user
 * message next to it, at its place; null if there is none. Chat templates of some models allow only
 * one system message, at the head. All other text is unchanged.
 */
export function foldSystemMessages(document: JsonDocument): FoldedRequest | null {
  const { messages } = document.value;
  if (!Array.isArray(messages)) return null;
  const texts = messages.map(systemText);
  const begin = messages.findIndex((message) => !isInstruction(message));
  if (begin < 0 || !texts.some((text, index) => index > begin && text !== null)) return null;
  const list = foldedList(messages, texts, begin);
  const member = document.members.find(({ key }) => key === "messages");
  const spans = member === undefined ? [] : parseElements(document.text, member.start);
  const written = list.map((one) => writtenMessage(one, document.text, spans[one.origin]));
  const text = `[${written.map((one) => one.text).join(",")}]`;
  const whole = member === undefined
    ? document.text
    : splice(document.text, [replaceValue(member, text)]);
  return {
    document: {
      text: whole,
      value: { ...document.value, messages: written.map((one) => one.message) },
      members: parseMembers(whole),
    },
    origins: list.map(({ origin, before, message }) => ({
      index: origin,
      addedParts: isObject(message) && Array.isArray(message.content) ? before.length : 0,
    })),
    lossy: texts.flatMap((one, index) =>
      index > begin && one !== null ? [`messages[${index}].role`] : []
    ),
  };
}

function foldedList(
  messages: readonly JsonValue[],
  texts: readonly (string | null)[],
  begin: number,
): readonly FoldedMessage[] {
  const list: FoldedMessage[] = [];
  let waiting: { readonly texts: string[]; readonly origin: number } | null = null;

  for (const [origin, message] of messages.entries()) {
    const text = origin > begin ? texts[origin] ?? null : null;
    if (text !== null) {
      const last = list.at(-1);
      if (waiting === null && last !== undefined && takesText(last.message)) last.after.push(text);
      else if (waiting === null) waiting = { texts: [text], origin };
      else waiting.texts.push(text);
      continue;
    }
    if (waiting !== null && takesText(message)) {
      list.push({ origin, before: waiting.texts, after: [], message });
      waiting = null;
      continue;
    }
    // The results of calls must follow their message.
    if (waiting !== null && !isResult(message)) {
      list.push({ origin: waiting.origin, before: waiting.texts, after: [], message: null });
      waiting = null;
    }
    list.push({ origin, before: [], after: [], message });
  }
  if (waiting !== null) {
    list.push({ origin: waiting.origin, before: waiting.texts, after: [], message: null });
  }
  return list;
}

function isInstruction(message: JsonValue): boolean {
  return isObject(message) && (message.role === "system" || message.role === "developer");
}

function isResult(message: JsonValue): boolean {
  return isObject(message) && (message.role === "tool" || message.role === "function");
}

/** True if a message can take the text of a system message. */
function takesText(message: JsonValue): boolean {
  return isObject(message) && message.role === "user" &&
    (typeof message.content === "string" || Array.isArray(message.content));
}

/** Returns the text of a system message; null for any other message. */
function systemText(message: JsonValue): string | null {
  if (!isObject(message) || !isInstruction(message)) return null;
  const { content } = message;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return null;
  const texts = content.flatMap((part) =>
    isObject(part) && part.type === "text" && typeof part.text === "string" ? [part.text] : []
  );
  return texts.length === content.length ? texts.join("") : null;
}

interface WrittenMessage {
  readonly text: string;
  readonly message: JsonValue;
}

function writtenMessage(
  { before, after, message }: FoldedMessage,
  text: string,
  span: Span | undefined,
): WrittenMessage {
  if (!isObject(message)) {
    const own: JsonObject = { role: "user", content: before.map(marked).join("\n\n") };
    return message === null && before.length > 0
      ? { text: JSON.stringify(own), message: own }
      : { text: text.slice(span?.start, span?.end), message };
  }
  const received = text.slice(span?.start, span?.end);
  if (before.length === 0 && after.length === 0) return { text: received, message };
  const { content } = message;
  const value = typeof content === "string"
    ? JSON.stringify([...before.map(marked), content, ...after.map(marked)].join("\n\n"))
    : partsText(received, before, after);
  const changed = splice(received, changeMembers(0, parseMembers(received), [["content", value]]));
  return { text: changed, message: { ...message, content: parseJson(value) ?? null } };
}

function marked(text: string): string {
  return MARK + text;
}

/** Returns the text of the user's parts with the texts of system messages before and after them. */
function partsText(
  message: string,
  before: readonly string[],
  after: readonly string[],
): string {
  const content = parseMembers(message).findLast(({ key }) => key === "content");
  const own = content === undefined
    ? []
    : parseElements(message, content.start).map(({ start, end }) => message.slice(start, end));
  const part = (text: string) => JSON.stringify({ type: "text", text: marked(text) });
  return `[${[...before.map(part), ...own, ...after.map(part)].join(",")}]`;
}
