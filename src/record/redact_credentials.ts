/**
 * Credentials that `record.policy: credentials` masks, with the name that replaces each. A text
 * without any of the beginnings has none, which is far cheaper to see than to match.
 */
const CREDENTIALS: readonly (readonly [
  name: string,
  beginnings: readonly string[],
  pattern: RegExp,
])[] = [
  // In a JSON text line ends are escaped, and a quote ends the string; a key may be cut off.
  [
    "private_key",
    ["-----BEGIN "],
    /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^"]{0,9000}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?:[A-Za-z0-9+/=\s]|\\+[nrt])*)/g,
  ],
  ["aws_key", ["AKIA", "ASIA", "ABIA", "ACCA"], /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/g],
  [
    "github_token",
    ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
    /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})/g,
  ],
  ["slack_token", ["xox"], /\bxox[abeoprs]-(?:\d-)?[A-Za-z0-9-]{10,250}/g],
  [
    "api_key",
    ["sk-", "sk_", "rk-", "rk_", "pk-", "pk_"],
    /\b(?:sk|rk|pk)[-_][A-Za-z0-9_-]{20,250}/g,
  ],
  [
    "api_key",
    ["AIza", "hf_", "gsk_", "glpat-", "npm_"],
    /\b(?:AIza[A-Za-z0-9_-]{35}|hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|glpat-[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{36})/g,
  ],
];

/**
 * Returns a text in which credentials are masked: each becomes its kind in brackets, which keeps a
 * JSON text valid.
 */
export function redactCredentials(text: string): string {
  let redacted = text;
  for (const [name, beginnings, pattern] of CREDENTIALS) {
    if (beginnings.some((one) => text.includes(one))) {
      redacted = redacted.replace(pattern, `[${name}]`);
    }
  }
  return redacted;
}
