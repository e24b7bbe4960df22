import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { ClientKey } from "../client_key.ts";

/** Client key of a client with a token, by its template, without an identity. */
export type Template = Omit<
  ClientKey,
  "caller" | "endUsers" | "secrets" | "isDisabled" | "expiresMs" | "issuer" | "measured"
>;

/** An issuer of tokens. */
export interface Issuer {
  readonly name: string;
  /** The claim `iss` of its tokens, byte for byte. */
  readonly url: string;
  /** Source of its keys, as `KeySets` names it. */
  readonly source: string;
  /** Audiences of this gateway, of which a token must have one. */
  readonly audience: readonly string[];
  readonly algorithms: ReadonlySet<string>;
  /** Claim with the name of the client. */
  readonly subject: string;
  /** Labels, and the claim of each. */
  readonly labels: readonly (readonly [label: string, claim: string])[];
  /** The first rule that fits the claims of a token gives its template. */
  readonly rules: readonly TokenRule[];
}

/** A condition on a claim, and the template of tokens that meet it. */
export interface TokenRule {
  readonly claim: string;
  readonly patterns: readonly ((text: string) => boolean)[];
  readonly template: Template;
}

/** Maximum length of the name of a client with a token, without its issuer. */
const MAX_SUBJECT_CHARS = 256;

/** Maximum length of the value of a label, as of those in the configuration. */
const MAX_LABEL_CHARS = 100;

// deno-lint-ignore no-control-regex
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

/**
 * Returns the value of a claim: the member with this name, else the one at this path of members, as
 * in `realm_access.roles`.
 */
export function claimOf(claims: JsonObject, name: string): JsonValue | undefined {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: JsonValue | undefined = claims;
  for (const part of name.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

/** Returns the name of the client in the claims of a token; null if it is no usable name. */
export function subjectOf({ subject }: Issuer, claims: JsonObject): string | null {
  const value = claimOf(claims, subject);
  if (typeof value !== "string" || !isName(value)) return null;
  return value;
}

/**
 * True if the text can name a client: it is neither empty nor long, and has no control character.
 */
export function isName(text: string): boolean {
  return text !== "" && text.length <= MAX_SUBJECT_CHARS && text.isWellFormed() &&
    !CONTROL.test(text);
}

/** Returns the template of the first rule that fits the claims; null if none fits. */
export function templateFor({ rules }: Issuer, claims: JsonObject): Template | null {
  const rule = rules.find(({ claim, patterns }) => {
    const value = claimOf(claims, claim);
    const texts = Array.isArray(value) ? value : [value];
    return texts.some((text) => typeof text === "string" && patterns.some((fits) => fits(text)));
  });
  return rule?.template ?? null;
}

/** Returns the labels of a client: those of its template, and those of claims, which win. */
export function labelsOf(
  { labels }: Issuer,
  template: Template,
  claims: JsonObject,
): ReadonlyMap<string, string> {
  if (labels.length === 0) return template.labels;
  const all = new Map(template.labels);
  for (const [label, claim] of labels) {
    const value = claimOf(claims, claim);
    const text = Array.isArray(value) ? value[0] : value;
    if (typeof text === "string" && text.length <= MAX_LABEL_CHARS && isName(text)) {
      all.set(label, text);
    }
  }
  return all;
}
