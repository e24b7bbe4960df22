import type { Refusal, RefusalKind } from "../../core/failure/failure.ts";
import { SENTENCES } from "./sentences.ts";

/** Kinds of refusals whose text follows the path of the field that is wrong. */
const ABOUT_A_FIELD: readonly RefusalKind[] = [
  "invalid_type",
  "invalid_value",
  "invalid_metadata",
  "missing_required_parameter",
  "invalid_parameter_combination",
  "array_above_max_length",
];

/** Field whose refusal has a fixed sentence without a path. */
const EFFORT = "output_config.effort";

/**
 * Returns the message of a refusal in the words of the Messages API, where there are such words:
 * `PATH: Field required`, `PATH: Input should be …`, `PATH: Extra inputs are not permitted`.
 * Clients compare them.
 */
export function refusalWords({ kind, at, reason }: Refusal): string {
  const path = dottedPath(at ?? "");
  switch (reason.kind) {
    case "required":
      return SENTENCES.required(path);
    case "unexpected":
      return SENTENCES.wrongInput(path, reason.expected);
    case "not_carried":
      if (path === EFFORT) return SENTENCES.effort;
      return reason.advice === null ? SENTENCES.extraInput(path) : `${path}: ${reason.advice}`;
    case "rule":
      return `${path}: ${reason.before ?? ""}'${path}' ${reason.rule}.`;
    case "text":
      return at !== null && ABOUT_A_FIELD.includes(kind) ? `${path}: ${reason.text}` : reason.text;
  }
}

/** Returns a path of the gateway, such as `messages[0].role`, in the form `messages.0.role`. */
export function dottedPath(path: string): string {
  return path.replace(/\[(\d+)\]/g, ".$1");
}
