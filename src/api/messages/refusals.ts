import type { Reason, Refusal } from "../../core/failure/failure.ts";
import { type Failed, refuse } from "../../core/failure/result.ts";
import type { Optional } from "../../prompt/refusals.ts";
import { requiredField, wrongField } from "../items/shape.ts";

/** Returns the refusal of a field with the wrong JSON type, or of an absent field. */
export function wrongType(given: Optional, path: string, expected: string): Failed<Refusal> {
  return (given ?? null) === null ? requiredField(path) : wrongField(path, expected);
}

/** Returns the refusal of a value that no target takes. A text follows the path in the message. */
export function invalidValue(path: string, reason: Reason | string): Failed<Refusal> {
  return refuse("invalid_value", reason, path);
}

/** Returns the refusal of a value that is not among those that the API has. */
export function notAmong(path: string, expected: readonly string[]): Failed<Refusal> {
  const quoted = expected.map((one) => `'${one}'`);
  const last = quoted.at(-1) ?? "";
  const list = quoted.length < 2 ? last : `${quoted.slice(0, -1).join(", ")} or ${last}`;
  return invalidValue(path, { kind: "unexpected", expected: list });
}
