import type * as z from "zod";
import { isObject } from "../core/json/json.ts";
import { type KnownKeys, newKnownKeys } from "./json_schema.ts";
import { type Path, type Problem, unknownKey } from "./problems.ts";

type Issue = z.core.$ZodIssue;

const KINDS: ReadonlyMap<string, string> = new Map([
  ["string", "must be text"],
  ["int", "must be a whole number"],
  ["number", "must be a number"],
  ["boolean", "must be true or false"],
  ["array", "must be a list"],
  ["object", "must be a mapping"],
  ["record", "must be a mapping"],
]);

/** Returns the issues of the schema as problems of the file. */
export function issueProblems(issues: readonly Issue[], value: unknown): Problem[] {
  const knownKeys = newKnownKeys();
  return issues.flatMap((issue) => {
    const path = issue.path.filter((step) => typeof step !== "symbol");
    return listProblems(issue, path, valueAt(value, path), knownKeys);
  });
}

function listProblems(issue: Issue, path: Path, value: unknown, knownKeys: KnownKeys): Problem[] {
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(path);
    return issue.keys.map((key) => {
      return { path: [...path, key], text: unknownKey(key, known), at: "key" };
    });
  }
  const at = issue.code === "invalid_key" ? "key" : "value";
  return [{ path, text: issueText(issue, value), at }];
}

function issueText(issue: Issue, value: unknown): string {
  if (value === undefined) return "is required";
  if (value === null && issue.code !== "invalid_key") {
    return "has no value; add a value or remove the key";
  }
  switch (issue.code) {
    case "invalid_type":
      return typeText(issue, value);
    case "invalid_value":
      return `must be ${wordList(issue.values.map(String))}`;
    case "too_small":
      return limitText(
        issue.origin,
        issue.inclusive === false ? "more than" : "at least",
        issue.minimum,
      );
    case "too_big":
      return limitText(
        issue.origin,
        issue.inclusive === false ? "less than" : "at most",
        issue.maximum,
      );
    case "invalid_key":
      return issue.issues[0]?.message || "is not a valid key";
    case "invalid_format":
    case "custom":
      return issue.message;
    case "unrecognized_keys":
    case "not_multiple_of":
    case "invalid_union":
    case "invalid_element":
      return "is not valid";
  }
}

function typeText(issue: z.core.$ZodIssueInvalidType, value: unknown): string {
  if (issue.message !== "") return issue.message;
  const isBare = typeof value === "number" || typeof value === "boolean";
  if (issue.expected === "string" && isBare) return "must be text; put it in quotes";
  return KINDS.get(issue.expected) ?? "has the wrong type";
}

function limitText(origin: string, comparison: string, limit: number | bigint): string {
  if (origin === "array") {
    return comparison === "at least"
      ? "must not be empty"
      : `must have ${comparison} ${limit} items`;
  }
  return origin === "string"
    ? `must have ${comparison} ${limit} characters`
    : `must be ${comparison} ${limit}`;
}

/** Returns the words as `a`, `a or b` or `a, b or c`. */
function wordList(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} or ${last}`;
}

function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const step of path) {
    if (typeof step === "number") found = Array.isArray(found) ? found[step] : undefined;
    else found = isObject(found) && Object.hasOwn(found, step) ? found[step] : undefined;
  }
  return found;
}
