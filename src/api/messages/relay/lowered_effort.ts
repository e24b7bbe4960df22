import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
} from "../../../core/json/json.ts";
import { changeMembers, type Edit, parseElements, parseMembers } from "../../../formats/edit.ts";
import { MAX_UNTHINKING_EFFORT, needsThinking } from "../../../wires/messages/thinking.ts";
import { withInner } from "../../../wires/preset_members.ts";

const LOWERED = JSON.stringify(MAX_UNTHINKING_EFFORT);

/** Returns the paths of the efforts of a request that are too high while thinking is off. */
export function effortPaths(request: JsonObject): readonly string[] {
  const messages = highMessages(request).map((index) => `messages.${index}.`);
  return [...isHigh(request) ? [""] : [], ...messages].map((path) => `${path}output_config.effort`);
}

/**
 * Returns the edits that lower the efforts of a request which are too high while thinking is off:
 * its own, and those of system messages.
 */
export function effortEdits(document: JsonDocument): readonly Edit[] {
  const { text, value, members } = document;
  const edits = isHigh(value) ? loweredIn(document, text.indexOf("{")) : [];
  const list = members.findLast(({ key }) => key === "messages");
  const high = list === undefined ? [] : highMessages(value);
  if (list === undefined || high.length === 0) return edits;
  const spans = parseElements(text, list.start);
  return [
    ...edits,
    ...high.flatMap((index) => {
      const at = spans[index]?.start ?? 0;
      return loweredIn({ text, members: parseMembers(text, at) }, at);
    }),
  ];
}

function loweredIn(
  document: Pick<JsonDocument, "text" | "members">,
  start: number,
): readonly Edit[] {
  const config = withInner(document, "output_config", ["effort", LOWERED]);
  return changeMembers(start, document.members, [["output_config", config]]);
}

function highMessages({ messages }: JsonObject): readonly number[] {
  return Array.isArray(messages)
    ? [...messages.keys()].filter((index) => isHigh(messages[index]))
    : [];
}

function isHigh(holder: JsonValue | undefined): boolean {
  return isObject(holder) && isObject(holder.output_config) &&
    needsThinking(holder.output_config.effort);
}
