import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { textBeginning } from "../core/text_beginning.ts";

/** Maximum length of a message made from `detail`. */
const MAX_MESSAGE_CHARS = 2_000;

/** Maximum number of problems read from a `detail` list. */
const MAX_PROBLEMS = 20;

/**
 * Returns the message of an error body of a FastAPI server, for any protocol. `detail` is a string,
 * an object with a message, or a list of problems with locations. Returns null if it has no
 * message. `redact` removes secrets before the message is truncated, because a part of a secret is
 * still secret.
 */
export function detailMessage(
  { detail }: JsonObject,
  redact: (text: string) => string,
): string | null {
  const text = Array.isArray(detail)
    ? detail.slice(0, MAX_PROBLEMS).flatMap(parseProblem).join("; ")
    : parseText(detail);
  if (text === null || text.trim() === "") return null;
  const clean = redact(text);
  const isLong = clean.length > MAX_MESSAGE_CHARS;
  return isLong ? `${textBeginning(clean, MAX_MESSAGE_CHARS)}…` : clean;
}

function parseText(value: JsonValue | undefined): string | null {
  if (typeof value === "string") return value;
  if (!isObject(value)) return null;
  return [value.message, value.msg].find((text) => typeof text === "string") ?? null;
}

/** Returns one problem with its location in front: `body.messages[0].content: Field required`. */
function parseProblem(problem: JsonValue): string[] {
  if (typeof problem === "string") return [problem];
  if (!isObject(problem)) return [];
  const { loc, type } = problem;
  const text = parseText(problem) ?? (typeof type === "string" ? type : null);
  if (text === null) return [];
  const place = Array.isArray(loc) ? formatPath(loc) : "";
  return [place === "" ? text : `${place}: ${text}`];
}

function formatPath(steps: readonly JsonValue[]): string {
  let path = "";
  for (const step of steps) {
    if (typeof step === "number") path += `[${step}]`;
    else if (typeof step === "string") path += path === "" ? step : `.${step}`;
  }
  return path;
}
