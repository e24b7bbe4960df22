import type { JsonObject } from "../core/json/json.ts";
import { type Result, success } from "../core/failure/result.ts";
import type { Carrier } from "./carry.ts";
import type { Given, ThinkingBlock } from "./prompt.ts";
import { unsupported } from "./refusals.ts";

/** Members of the thinking blocks by their types; each is a string. */
const MEMBERS = {
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
} as const;

/**
 * Returns a thinking block (Messages API, extended thinking), of which a client may have changed
 * anything.
 */
export function parseThinkingBlock(
  block: JsonObject,
  path: string,
  carrier: Carrier,
): Result<Given<ThinkingBlock>> {
  const type = (["thinking", "redacted_thinking"] as const).find((one) => one === block.type);
  if (type === undefined) return unsupported(`${path}.type`);
  const holder = `messages[assistant].thinking_blocks[${type}]` as const;
  const unknown = carrier.unknown(block, holder, path);
  if (unknown !== null) return unknown;
  const lacking = MEMBERS[type].find((member) => typeof block[member] !== "string");
  return lacking === undefined
    ? success({ value: block, at: { field: "messages[assistant].thinking_blocks", path } })
    : unsupported(`${path}.${lacking}`, "It must be a string.");
}
