import type { JsonObject } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/failure/result.ts";
import { unsupported } from "../../../prompt/refusals.ts";
import { typeOf } from "../../items/item_type.ts";
import type { ToolList } from "./parse_tools.ts";
import type { HistoryItem } from "../history_item.ts";

/** The items of a request without those that declare tools, and the lists of these tools. */
export interface SeparatedTools {
  readonly items: readonly HistoryItem[];
  readonly lists: readonly ToolList[];
  /** The same of the last stored turn with such items; the paths are those in the stored items. */
  readonly stored: readonly ToolList[];
}

/**
 * Separates the tools that the input declares (`additional_tools`), and those that stored items
 * declare: over a WebSocket Codex sends its tools in the first turn only. Refuses such an item of
 * another role than `developer`, and one after an item of the user or the assistant.
 */
export function separateTools(given: readonly HistoryItem[]): Result<SeparatedTools> {
  const items: HistoryItem[] = [];
  const lists: ToolList[] = [];
  let stored: ToolList[] = [];
  let isDialogue = false;
  let isLater = false;
  for (const [index, one] of given.entries()) {
    const { item, path } = one;
    if (typeOf(item) !== "additional_tools") {
      items.push(one);
      isDialogue ||= path !== null && !isInstruction(item);
      isLater ||= path === null && !isInstruction(item);
    } else if (path === null) {
      const list = { tools: item.tools, path: `items[${index}].tools`, isStored: true };
      if (isLater) stored = [];
      stored.push(list);
      isLater = false;
    } else {
      if (isDialogue || item.role !== "developer") return unsupported(`${path}.type`);
      lists.push({ tools: item.tools, path: `${path}.tools` });
    }
  }
  return success({ items, lists, stored });
}

function isInstruction(item: JsonObject): boolean {
  return typeOf(item) === "message" &&
    (item.role === "system" || item.role === "developer");
}
