import { maskingRules, maskText } from "../../src/record/mask_text.ts";
import { newRecordMask } from "../../src/record/record_mask.ts";
import { redactCredentials } from "../../src/record/redact_credentials.ts";
import { rulesOf } from "../privacy/rules.ts";
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
  ["api_key", `gsk_${"a1B2".repeat(13)}`],
  ["api_key", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz"],
  ["private_key", KEY_LINES],
  ["private_key", "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADAN"],
  ["private_key", KEY_LINES.replaceAll("\\n", "\n")],
  ["private_key", KEY_LINES.replaceAll("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK")],
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

Deno.test("the password in an address is masked, and its name stays", () => {
  const text = JSON.stringify({ url: "postgres://user:s3cr:et@db.test/x" });
  assertEquals(redactCredentials(text), '{"url":"postgres://user:[api_key]@db.test/x"}');
});

Deno.test("no match reaches over a quote, also in JSON in a string", () => {
  const inner = {
    url: "http://host",
    mail: "bob@example.com",
    key: "-----BEGIN PRIVATE KEY-----\nMII",
  };
  const masked = { ...inner, key: "[private_key]" };
  const nested = (value: unknown) =>
    JSON.stringify({ calls: [JSON.stringify(value)], last: "a@b" });
  assertEquals(redactCredentials(JSON.stringify(inner)), JSON.stringify(masked));
  assertEquals(redactCredentials(nested(inner)), nested(masked));
  assertEquals(redactCredentials(nested(nested(inner))), nested(nested(masked)));
});

Deno.test("a credential behind an escaped letter is masked, also in the string at which a text is cut", () => {
  const text = String.raw`{"a":"\u662f\u0073k-${"a1B2".repeat(6)} \u00e9`;
  for (const end of [`"}`, "", String.raw`\u00`]) {
    assertEquals(redactCredentials(text + end), `{"a":"是[api_key] é${end.replace(/^\\.*/, "")}`);
  }
});

Deno.test("of a string without a credential every byte stays, and text that is no JSON keeps its backslashes", () => {
  const key = `sk-${"a1B2".repeat(6)}`;
  const text = (one: string) => String.raw`{"a": "\u0041\/", "b": "${one}"} C:\new "x` + "\n";
  assertEquals(redactCredentials(text(key)), text("[api_key]"));
  assertEquals(redactCredentials(`C:\\dir ${key}\n`), "C:\\dir [api_key]\n");
});

Deno.test("plain words and short names are left as they are", () => {
  const text = "ask sk-8 about AKIA, task-list items, a private key and ghp_short";
  assertEquals(redactCredentials(text), text);
});

Deno.test("a text of many begins of keys is masked in a bounded number of steps", () => {
  const text = "-----BEGIN PRIVATE KEY-----!".repeat(1_100);
  assert(!redactCredentials(text).includes("-----BEGIN"));
});

Deno.test("of a text that was cut, what may be the beginning of a credential is left out", () => {
  const { body } = newRecordMask("credentials", () => 0)();
  for (const [, credential] of CREDENTIALS) {
    const begin = String.raw`{"a":"\u00e9 sk-8 is`;
    const text = `${begin} ${credential}`;
    for (let end = begin.length + 1; end <= text.length; end++) {
      const left = body(text.slice(0, end), true).replace("\\u00e9", "é");
      const label = left.slice('{"a":"é sk-8 is'.length).trim();
      assert(label === "" || /^\[[a-z_]+\]/.test(label), left);
      assert(left.startsWith('{"a":"é sk-8 is'), left);
    }
  }
  const plain = '{"a":"no credential, ';
  assertEquals([body(plain, true), body("", true)], [plain, ""]);
});

Deno.test("a NUL in a string hides no match that needs a word around it", () => {
  const rules = maskingRules(
    rulesOf("pattern: '[0-9]{6}', contains: [badge], action: mask, label: badge"),
  );
  const text = JSON.stringify({ text: "badge\0 123456", other: "123456" });
  assertEquals(maskText(text, rules), text.replace("123456", "[badge]"));
});

Deno.test("a number of which a part matches is masked whole, so that JSON stays JSON", () => {
  const rules = maskingRules(rulesOf("pattern: '[0-9]{5}', action: mask, label: zip"));
  const text = '{"a":1732372931,"b":[-12345.5e10, 0.12345,1234],"c":"x 12345","d":12345}';
  assertEquals(
    maskText(text, rules),
    '{"a":"[zip]","b":["[zip]", "[zip]",1234],"c":"x [zip]","d":"[zip]"}',
  );
});

Deno.test("half a million backslashes are searched once, not once from each", () => {
  const text = JSON.stringify({ a: `${"\\".repeat(500_000)}x" sk-${"a1B2".repeat(6)}` });
  const redacted = JSON.parse(redactCredentials(text));
  assertEquals(redacted.a, `${"\\".repeat(500_000)}x" [api_key]`);
});
