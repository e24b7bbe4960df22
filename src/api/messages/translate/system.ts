import { isObject, type JsonObject } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/result.ts";
import { type Optional, unsupported } from "../../../prompt/refusals.ts";
import { notAmong, unknownMember, wrongType } from "../refusals.ts";
import {
  blockText,
  contentBlocks,
  hasCitations,
  type PlacedPart,
  textPart,
  unexpectedTag,
} from "./content.ts";
import { MESSAGES_FIELDS } from "./fields.ts";

/**
 * A line for the vendor's billing. It is not for the model, and its value changes between requests,
 * so that no prompt cache would find the head of the prompt again.
 */
const BILLING_LINE = /^x-anthropic-billing-header:[^\n]*(?:\n|$)/m;

/** Effort levels of the API (Messages API, effort). */
export const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

/** Reasoning effort of a request. */
export type Effort = (typeof EFFORTS)[number];

/** Returns the parts of the top-level `system`, without the first billing line. */
export function systemParts(system: Optional, lossy: string[]): Result<readonly PlacedPart[]> {
  if ((system ?? null) === null) return success([]);
  const parts = textParts(system, "system", lossy);
  if (!parts.ok) return parts;
  const billed = parts.value.findIndex(({ part }) => BILLING_LINE.test(String(part.text)));
  if (billed < 0) return parts;
  const kept = parts.value.map(({ part, at }, index) => {
    const text = String(part.text);
    return { part: textPart(index === billed ? text.replace(BILLING_LINE, "") : text), at };
  });
  return success(kept.filter(({ part }) => part.text !== ""));
}

/** A message of the role `system` in the dialogue. */
export interface SystemMessage {
  readonly parts: readonly PlacedPart[];
  /** Effort that holds from this message on; null if it sets none. */
  readonly effort: Effort | null;
}

/** Translates a message of the role `system` (Messages API, messages). */
export function systemMessage(
  message: JsonObject,
  index: number,
  lossy: string[],
): Result<SystemMessage> {
  const path = `messages.${index}`;
  const unknown = unknownMember(message, MESSAGES_FIELDS.members("messages[system]"), path);
  if (unknown !== null) return unknown;
  if ((message.clear_at ?? "never") !== "never") return unsupported(`${path}.clear_at`);
  const parts = textParts(message.content, `${path}.content`, lossy);
  if (!parts.ok) return parts;
  const config = message.output_config ?? {};
  if (!isObject(config)) return wrongType(config, `${path}.output_config`, "a valid dictionary");
  const other = unknownMember(
    config,
    MESSAGES_FIELDS.members("messages[system].output_config"),
    `${path}.output_config`,
  );
  if (other !== null) return other;
  const effort = parseEffort(config.effort, `${path}.output_config.effort`);
  return effort.ok ? success({ parts: parts.value, effort: effort.value }) : effort;
}

/** Returns an effort level; null if it is absent. */
export function parseEffort(given: Optional, path: string): Result<Effort | null> {
  if ((given ?? null) === null) return success(null);
  const effort = EFFORTS.find((one) => one === given);
  return effort === undefined ? notAmong(path, EFFORTS) : success(effort);
}

/** Returns the texts of a content that holds only text, without empty ones. */
function textParts(
  content: Optional,
  path: string,
  lossy: string[],
): Result<readonly PlacedPart[]> {
  const blocks = contentBlocks(content, path);
  if (!blocks.ok) return blocks;
  const parts: PlacedPart[] = [];
  for (const [index, block] of blocks.value.entries()) {
    const at = `${path}.${index}`;
    if (block.type !== "text") return unexpectedTag(block, at, ["text"]);
    const text = blockText(block, at);
    if (!text.ok) return text;
    if (hasCitations(block)) lossy.push(`${at}.citations`);
    if (text.value !== "") parts.push({ part: textPart(text.value), at });
  }
  return success(parts);
}
