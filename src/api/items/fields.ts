import type * as z from "zod";
import type { JsonObject } from "../../core/json/json.ts";
import { type Failed, refuse } from "../../core/failure/result.ts";
import type { Refusal } from "../../core/failure/failure.ts";
import { requiredField, wrongField } from "./shape.ts";

/** Checks the known fields of a body. The refusal names the first invalid field by its path. */
export function checkFields(schema: z.ZodType, value: JsonObject): Failed<Refusal> | null {
  const checked = schema.safeParse(value);
  const issue = checked.error?.issues[0];
  if (issue === undefined) return null;
  const path = pathOf(issue.path);
  const param = path === "" ? null : path;
  if (issue.code === "too_small") {
    return refuse("missing_required_parameter", `The field '${path}' must not be empty.`, param);
  }
  return isMissing(issue.path, value) ? requiredField(param) : wrongField(param, expectedOf(issue));
}

/** True if a required field is absent: a null counts as absent. */
function isMissing(path: readonly PropertyKey[], value: unknown): boolean {
  return typeof path.at(-1) === "string" && (valueAt(value, path) ?? null) === null;
}

function expectedOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return article(issue.expected);
    case "custom":
      return issue.message;
    default:
      return "of another type";
  }
}

function article(type: string): string {
  if (type === "int") return "an integer";
  if (type === "record") return "an object";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** Returns the path of a field as clients write it, such as `messages[0].role`. */
function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? String(step) : `${text}.${String(step)}`;
  }, "");
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = Reflect.get(here, step);
  }
  return here;
}
