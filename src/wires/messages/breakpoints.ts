import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { isCacheable } from "./content.ts";

/** A request with the number of breakpoints that were set in it. */
interface Marked {
  readonly request: JsonObject;
  readonly count: number;
}

const MARK = { type: "ephemeral" };

/**
 * Sets breakpoints of the prompt cache at the ends of what the next turn repeats: the tools, the
 * system text, the last user message and the one before it, where the last turn has written. That
 * one is read even if this turn has added more blocks than the upstream looks back. Sets none if
 * the client has set one itself.
 */
export function setBreakpoints(request: JsonObject): Marked {
  const { cache_control: own, tools, system, messages } = request;
  if (own !== undefined || [tools, system, messages].some(hasMark)) return { request, count: 0 };
  const dialogue = Array.isArray(messages) ? [...messages] : [];
  const users = dialogue.flatMap((one, index) => isObject(one) && one.role === "user" ? index : []);
  let count = 0;

  /** Returns the content with a mark on its last block that can carry one. */
  function mark(content: JsonValue | undefined): JsonValue | undefined {
    if (typeof content === "string") return mark([{ type: "text", text: content }]);
    if (!Array.isArray(content)) return content;
    const at = content.findLastIndex((block) => isObject(block) && isCacheable(block));
    const block = content[at];
    if (!isObject(block)) return content;
    count++;
    return content.with(at, { ...block, cache_control: MARK });
  }

  for (const index of users.slice(-2)) {
    const message = dialogue[index];
    if (isObject(message)) dialogue[index] = withMember(message, "content", mark(message.content));
  }
  const marked = withMember(
    withMember({ ...request, messages: dialogue }, "tools", mark(tools)),
    "system",
    mark(system),
  );
  return { request: marked, count };
}

function withMember(object: JsonObject, key: string, value: JsonValue | undefined): JsonObject {
  return value === undefined ? object : { ...object, [key]: value };
}

/** True if a tool or block of a list, or one inside of it, has a `cache_control`. */
function hasMark(list: JsonValue | undefined): boolean {
  return Array.isArray(list) &&
    list.some((one) => isObject(one) && (one.cache_control !== undefined || hasMark(one.content)));
}
