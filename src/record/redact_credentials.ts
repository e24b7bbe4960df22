import { DETECTORS } from "../privacy/detectors/detectors.ts";
import { mayHaveKey } from "../privacy/detectors/likely_keys.ts";
import { type MaskingRule, maskText } from "./mask_text.ts";

/** Detectors of `privacy` whose matches `record.policy: credentials` masks. */
const CREDENTIALS = ["private_key", "aws_key", "github_token", "slack_token", "api_key"] as const;

/** The rules of `record.policy: credentials`. */
export const CREDENTIAL_RULES: readonly MaskingRule[] = [{
  name: "credentials",
  order: 0,
  phase: "request",
  action: "mask",
  finders: CREDENTIALS.map((kind) => DETECTORS[kind](kind)),
  except: new Set(),
}];

/** Returns a text in which each credential has become its kind in brackets; JSON stays JSON. */
export function redactCredentials(text: string): string {
  return mayHaveKey(text) ? maskText(text, CREDENTIAL_RULES) : text;
}
