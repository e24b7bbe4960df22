import type { Refusal, RefusalKind } from "../../core/failure.ts";
import { SENTENCES } from "./sentences.ts";

/** Kinds of refusals whose message begins with the path of the field that is wrong. */
const ABOUT_A_FIELD: readonly RefusalKind[] = [
  "invalid_type",
  "invalid_value",
  "invalid_metadata",
  "missing_required_parameter",
  "invalid_parameter_combination",
  "array_above_max_length",
];

/** A message that begins with a path in the form of the Messages API. */
const BEGINS_WITH_PATH = /^[\w-]{1,64}(?:\.[\w-]{1,64})*: /;

/**
 * Returns the message of a refusal in the words of the Messages API, where there are such words:
 * `PATH: Field required`, `PATH: Input should be …`, `PATH: Extra inputs are not permitted`. Clients
 * compare them. Refusals of the API itself have them already; others come from parts of the gateway
 * that all client APIs share.
 */
export function refusalWords({ kind, message, param }: Refusal): string {
  if (param === null || BEGINS_WITH_PATH.test(message)) return message;
  const path = dottedPath(param);
  const quoted = `'${param}'`;
  if (!message.includes(quoted)) {
    return ABOUT_A_FIELD.includes(kind) ? `${path}: ${message}` : message;
  }
  const words = message.slice(message.indexOf(quoted) + quoted.length);
  if (words === " is required.") return SENTENCES.required(path);
  if (words.startsWith(" must be ") && words.endsWith(".")) {
    return SENTENCES.wrongInput(path, words.slice(" must be ".length, -1));
  }
  if (message === `The provider cannot honour ${quoted}.`) {
    return SENTENCES.extraInput(path);
  }
  return `${path}: ${message.replaceAll(quoted, `'${path}'`)}`;
}

/** Returns a path of the gateway, such as `messages[0].role`, in the form `messages.0.role`. */
export function dottedPath(path: string): string {
  return path.replace(/\[(\d+)\]/g, ".$1");
}
