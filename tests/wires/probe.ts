import { isRefusal } from "../../src/core/failure/failure.ts";
import type { JsonValue } from "../../src/core/json/json.ts";
import type { Result } from "../../src/core/failure/result.ts";
import type { CapabilityName, Treatment } from "../../src/prompt/field_table.ts";
import { assert, assertEquals } from "../support/assert.ts";
import type { Written } from "../support/translated.ts";

/** An encoded request: its text and the client's paths of the fields that it carries in part. */
export interface Encoded {
  readonly text: string;
  readonly lossy: readonly string[];
  /** The same for the fields that the gateway checks on the response. */
  readonly verified: readonly string[];
}

/** One request field with the ways to send it. */
export interface Trial {
  /** Path of the field, or of the object around it, in the client's request. */
  readonly path: string;
  /** Returns the encoded request with a value of the field; undefined leaves it out. */
  send(value: JsonValue | undefined, settings: Written): Result<Encoded>;
  readonly value: JsonValue;
  /** Text that the encoded request must have for the value. */
  readonly shown: string;
  /** True if the encoded request is the same without the field. */
  readonly always: boolean;
}

/** Every capability that a request field may need. */
const CAPABILITIES = {
  structured_outputs: true,
  reasoning_effort: true,
  adaptive_thinking: true,
  embeddings_base64: true,
  background_responses: true,
  hosted_tools: ["web_search", "mcp"],
} as const satisfies Partial<Record<CapabilityName, unknown>>;

/** Settings of a provider that declares them all. */
const DECLARED: Written = { capabilities: CAPABILITIES };

/** Asserts that what really happens with a field is what the table of its wire says. */
export function assertTreatment(trial: Trial, treatment: Treatment): void {
  switch (treatment.kind) {
    case "refused":
      assertRefused(trial, DECLARED);
      for (const noOp of treatment.unless ?? []) assertSame(trial, noOp);
      return;
    case "gated": {
      const { [treatment.capability]: _without, ...capabilities }: Written = CAPABILITIES;
      assertRefused(trial, { capabilities });
      return assertExact(trial);
    }
    case "ignored":
      return assertSame(trial, trial.value);
    case "exact":
      return assertExact(trial);
    case "lossy": {
      const lossy = addedLosses(trial);
      assert(
        lossy.length > 0 && lossy.every((path) => isRelated(path, trial.path)),
        `lossy: ${lossy}`,
      );
      return;
    }
    case "verified": {
      const { verified } = sent(trial, trial.value);
      assert(verified.some((path) => isRelated(path, trial.path)), `verified: ${verified}`);
      assertRefused(trial, { ...DECLARED, verify: false });
      for (const noOp of treatment.unless ?? []) assertSame(trial, noOp);
    }
  }
}

function sent(trial: Trial, value: JsonValue | undefined): Encoded {
  const result = trial.send(value, DECLARED);
  assert(result.ok, result.ok ? "" : JSON.stringify(result.failure));
  return result.value;
}

function assertRefused(trial: Trial, settings: Written): void {
  const result = trial.send(trial.value, settings);
  assert(!result.ok, "the field was accepted");
  assert(isRefusal(result.failure));
  const { at } = result.failure;
  assert(at !== null && isRelated(at, trial.path), `refused by ${at}`);
}

function assertExact(trial: Trial): void {
  const { text, verified } = sent(trial, trial.value);
  assertEquals(addedLosses(trial), []);
  assertEquals(verified, []);
  assert(text.includes(trial.shown), `${trial.shown} is not in ${text}`);
  const without = trial.send(undefined, DECLARED);
  if (without.ok) assertEquals(text === without.value.text, trial.always, text);
}

function assertSame(trial: Trial, value: JsonValue): void {
  const encoded = sent(trial, value);
  assertEquals(encoded, sent(trial, undefined));
}

/** Returns the lossy fields of the request that it does not have without the field. */
function addedLosses(trial: Trial): readonly string[] {
  const { lossy } = sent(trial, trial.value);
  const without = trial.send(undefined, DECLARED);
  return lossy.filter((path) => !without.ok || !without.value.lossy.includes(path));
}

/** True if one path is that of the other field or of an object around it. */
function isRelated(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}

/** Returns the text that a value of a field has in a request, by default. */
export function shownText(value: JsonValue): string {
  return typeof value === "string" ? value : typeof value === "object" ? "" : String(value);
}
