import { redactCredentials } from "../../src/record/redact_credentials.ts";
import { assert, assertEquals } from "../support/assert.ts";

const KEY_LINES =
  "-----BEGIN RSA PRIVATE KEY-----\\nMIIEpAIBAAKCAQEA7\\nqq==\\n-----END RSA PRIVATE KEY-----";

const CREDENTIALS: readonly (readonly [kind: string, text: string])[] = [
  ["aws_key", "AKIAIOSFODNN7EXAMPLE"],
  ["aws_key", "ASIAIOSFODNN7EXAMPLE"],
  ["github_token", `ghp_${"a1B2".repeat(9)}`],
  ["github_token", `github_pat_${"a1B2".repeat(10)}`],
  ["slack_token", "xoxb-123456789012-abcdefABCDEF"],
  ["api_key", `sk-${"a1B2".repeat(6)}`],
  ["api_key", `sk-proj-${"a1B2".repeat(10)}`],
  ["api_key", `sk-ant-api03-${"a1B2".repeat(10)}`],
  ["api_key", `AIza${"a1B2c".repeat(7)}`],
  ["api_key", `hf_${"a1B2".repeat(9)}`],
  ["private_key", KEY_LINES],
  ["private_key", "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADAN"],
  ["private_key", KEY_LINES.replaceAll("\\n", "\n")],
];

Deno.test("each kind of credential is masked by its name, and the text around it stays", () => {
  for (const [kind, text] of CREDENTIALS) {
    assertEquals(redactCredentials(`before ${text}" after`), `before [${kind}]" after`, text);
  }
});

Deno.test("a JSON text with credentials in its strings stays a JSON text", () => {
  const text = JSON.stringify({ all: CREDENTIALS.map(([, one]) => one.replaceAll("\\n", "\n")) });
  const redacted = JSON.parse(redactCredentials(text)) as { all: readonly string[] };
  assertEquals(redacted.all, CREDENTIALS.map(([kind]) => `[${kind}]`));
});

Deno.test("plain words and short names are left as they are", () => {
  const text = "ask sk-8 about AKIA, task-list items, a private key and ghp_short";
  assertEquals(redactCredentials(text), text);
});

Deno.test("a text of many begins of keys is masked in a bounded number of steps", () => {
  const text = "-----BEGIN PRIVATE KEY-----!".repeat(2_000);
  assert(!redactCredentials(text).includes("BEGIN"));
});
