import type { JsonObject } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/failure/result.ts";
import { textPart } from "../../../prompt/content.ts";
import type { TextPart } from "../../../prompt/prompt.ts";
import { type Optional, unsupported } from "../../../prompt/refusals.ts";
import { notAmong } from "../refusals.ts";
import { blockText, contentBlocks, unexpectedTag } from "./parse_content.ts";
import { objectAt, unknownIn } from "./read.ts";

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
export function systemParts(system: Optional, lossy: string[]): Result<readonly TextPart[]> {
  if ((system ?? null) === null) return success([]);
  const parts = textParts(system, "system", lossy);
  if (!parts.ok) return parts;
  const billed = parts.value.findIndex(({ text }) => BILLING_LINE.test(text));
  if (billed < 0) return parts;
  const kept = parts.value.map((part, index) =>
    index === billed ? { ...part, text: part.text.replace(BILLING_LINE, "") } : part
  );
  return success(kept.filter(({ text }) => text !== ""));
}

/** A message of the role `system` in the dialogue. */
export interface SystemMessage {
  readonly parts: readonly TextPart[];
  /** Effort that holds from this message on; null if it sets none. */
  readonly effort: Effort | null;
}

/** Parses a message of the role `system` (Messages API, messages). */
export function parseSystem(
  message: JsonObject,
  path: string,
  lossy: string[],
): Result<SystemMessage> {
  const unknown = unknownIn(message, "messages[system]", path);
  if (unknown !== null) return unknown;
  if ((message.clear_at ?? "never") !== "never") return unsupported(`${path}.clear_at`);
  const parts = textParts(message.content, `${path}.content`, lossy);
  if (!parts.ok) return parts;
  const configPath = `${path}.output_config`;
  const config = objectAt(message.output_config ?? {}, configPath);
  if (!config.ok) return config;
  const other = unknownIn(config.value, "messages[system].output_config", configPath);
  if (other !== null) return other;
  const effort = parseEffort(config.value.effort, `${configPath}.effort`);
  return effort.ok ? success({ parts: parts.value, effort: effort.value }) : effort;
}

/** Returns an effort level; null if it is absent. */
export function parseEffort(given: Optional, path: string): Result<Effort | null> {
  if ((given ?? null) === null) return success(null);
  const effort = EFFORTS.find((one) => one === given);
  return effort === undefined ? notAmong(path, EFFORTS) : success(effort);
}

/** Returns the texts of a content that holds only text, without empty ones. */
function textParts(content: Optional, path: string, lossy: string[]): Result<readonly TextPart[]> {
  const blocks = contentBlocks(content, path);
  if (!blocks.ok) return blocks;
  const parts: TextPart[] = [];
  for (const [index, block] of blocks.value.entries()) {
    const inside = `${path}.${index}`;
    if (block.type !== "text") return unexpectedTag(block, inside, ["text"]);
    const text = blockText(block, { path: inside, listedPath: inside }, lossy);
    if (!text.ok) return text;
    const at = { field: "messages[system].content[text]", path: inside } as const;
    if (text.value !== "") parts.push(textPart(text.value, at));
  }
  return success(parts);
}
