/** Credentials that `record.policy: credentials` masks, with the name that replaces each. */
const CREDENTIALS: readonly (readonly [name: string, pattern: RegExp])[] = [
  // In a JSON text line ends are escaped, and a quote ends the string; a key may be cut off.
  [
    "private_key",
    /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^"]{0,9000}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?:[A-Za-z0-9+/=\s]|\\+[nrt])*)/g,
  ],
  ["aws_key", /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/g],
  ["github_token", /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})/g],
  ["slack_token", /\bxox[abeoprs]-(?:\d-)?[A-Za-z0-9-]{10,250}/g],
  ["api_key", /\b(?:sk|rk|pk)[-_][A-Za-z0-9_-]{20,250}/g],
  [
    "api_key",
    /\b(?:AIza[A-Za-z0-9_-]{35}|hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|glpat-[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{36})/g,
  ],
];

/**
 * Returns a text in which credentials are masked: each becomes its kind in brackets, which keeps a
 * JSON text valid.
 */
export function redactCredentials(text: string): string {
  let redacted = text;
  for (const [name, pattern] of CREDENTIALS) redacted = redacted.replace(pattern, `[${name}]`);
  return redacted;
}
