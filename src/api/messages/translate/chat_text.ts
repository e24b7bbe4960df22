import type { JsonDocument, JsonValue } from "../../../core/json/json.ts";
import { parseMembers, type Span } from "../../../formats/edit.ts";

/** A member of the Chat request with its JSON text. */
export interface ChatField {
  readonly key: string;
  readonly value: JsonValue;
  readonly text: string;
}

/** Returns a field whose text is written from its value. */
export function newField(key: string, value: JsonValue): ChatField {
  return { key, value, text: JSON.stringify(value) };
}

/**
 * Returns a field whose text is a part of the client's document, such as a number as it was
 * written.
 */
export function copiedField(key: string, value: JsonValue, text: string): ChatField {
  return { key, value, text };
}

/**
 * Returns the document of a Chat request. The texts of its fields are joined, so that copied parts
 * keep every character.
 */
export function chatDocument(fields: readonly ChatField[]): JsonDocument {
  const text = `{${fields.map((field) => `${JSON.stringify(field.key)}:${field.text}`).join(",")}}`;
  const value = Object.fromEntries(fields.map((field) => [field.key, field.value]));
  return { text, value, members: parseMembers(text) };
}

/** Returns the text of a member of the object at a span; null without that member. */
export function memberText(text: string, span: Span | undefined, key: string): string | null {
  const member = span && parseMembers(text, span.start).findLast((one) => one.key === key);
  return member === undefined ? null : text.slice(member.start, member.end);
}

/** Returns the field with a new key and the value and text of a member of the client's document. */
export function carriedField(
  { text, value, members }: JsonDocument,
  from: string,
  to: string,
): readonly ChatField[] {
  const member = members.find(({ key }) => key === from);
  const given = value[from] ?? null;
  if (member === undefined || given === null) return [];
  return [copiedField(to, given, text.slice(member.start, member.end))];
}
