import {
  exact,
  exactBut,
  type FieldRows,
  gated,
  ignored,
  lossy,
  newFieldTable,
  refused,
  refusedUnless,
  type Treatment,
} from "../../../prompt/field_table.ts";
import { BLOCK_ROWS } from "./block_rows.ts";
import { TOOL_ROWS } from "./tool_rows.ts";

/** A field without a counterpart; empty values request nothing. */
const EMPTY = refusedUnless([], {});

/** How the thinking is sent to the client; nothing for the upstream. */
const DISPLAY = exactBut("by the gateway");

const KEEPS_ALL_THINKING = { edits: [{ type: "clear_thinking_20251015", keep: "all" }] };

const ROWS = {
  "model": exact,
  "max_tokens": exactBut("required; `0`, or more than `extra.max_tokens`, is refused"),
  ...BLOCK_ROWS,
  "system": exactBut("without the line `x-anthropic-billing-header:`"),
  "stream": exact,
  "stop_sequences": exact,
  "temperature": exact,
  "top_p": exact,
  "top_k": exact,
  "metadata.user_id": exactBut(
    "up to 64 letters, digits, `_` and `-`; any other value is dropped and lossy",
  ),
  "service_tier": exactBut("`auto` is ignored"),
  "thinking[adaptive]": ignored,
  "thinking[adaptive].display": DISPLAY,
  "thinking[enabled].budget_tokens": lossy(
    "that the model may think",
    "with `reasoning_effort`, it sets the level",
  ),
  "thinking[enabled].display": DISPLAY,
  "thinking[disabled]": lossy(
    "that no thinking is shown",
    "exact with `none` in `reasoning_effort_levels`",
  ),
  "thinking[disabled].display": ignored,
  "thinking[between_tools]": refused,
  "output_config.effort": gated(
    "reasoning_effort",
    "`xhigh` and `max` only if `reasoning_effort_levels` has them",
  ),
  "output_config.format[json_schema].schema": gated("structured_outputs"),
  "output_config.task_budget": refused,
  "output_format[json_schema].schema": gated(
    "structured_outputs",
    "not together with `output_config.format`",
  ),
  ...TOOL_ROWS,
  "cache_control": ignored,
  "context_management": refusedUnless({}, { edits: [] }, KEEPS_ALL_THINKING),
  "speed": refusedUnless("standard"),
  "diagnostics": refusedUnless({}, { previous_message_id: null }),
  "container": EMPTY,
  "inference_geo": EMPTY,
  "mcp_servers": EMPTY,
  "fallbacks": EMPTY,
  "fallback_credit_token": EMPTY,
  "compaction": EMPTY,
  "thread": EMPTY,
  "billing_policy": EMPTY,
  "safeguards": EMPTY,
  "tags": EMPTY,
} as const satisfies FieldRows<string>;

/** Path of a request field of the Messages API that its translation to Chat names. */
export type MessagesField = keyof typeof ROWS;

const OTHERS: Treatment = { kind: "refused", unless: [[], {}], note: "at the top level" };

/**
 * Treatment of each field of a request to create a message in the translation to Chat. Unknown
 * fields, members and variants are refused: the Messages API has closed objects.
 */
export const MESSAGES_FIELDS = newFieldTable<MessagesField>(ROWS, OTHERS);

/** Top-level fields that the translation reads. */
export const READ_FIELDS: ReadonlySet<string> = new Set(
  Object.entries<Treatment>(ROWS).flatMap(([path, { kind }]) =>
    kind === "refused" ? [] : [path.replace(/\W.*$/, "")]
  ),
);
