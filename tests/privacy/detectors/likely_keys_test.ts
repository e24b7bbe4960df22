import fc from "fast-check";
import { DETECTORS } from "../../../src/privacy/detectors/detectors.ts";
import { mayHaveKey } from "../../../src/privacy/detectors/likely_keys.ts";
import { assert } from "../../support/assert.ts";

const FINDERS = (["private_key", "aws_key", "github_token", "slack_token", "api_key"] as const)
  .map((kind) => DETECTORS[kind](kind));

function hasKey(text: string): boolean {
  let isFound = false;
  for (const finder of FINDERS) {
    if ("find" in finder) finder.find(text, 0, text.length, () => isFound = true);
  }
  return isFound;
}

/** The shortest texts that the detectors find. */
const KEYS = [
  "AKIAIOSFODNN7EXAMPLE",
  `gho_${"a1B2".repeat(9)}`,
  `github_pat_${"a1".repeat(11)}`,
  "xoxb-1234567890",
  `sk-${"a1B2".repeat(5)}`,
  `AIza${"a1B2c".repeat(7)}`,
  `sk_live_${"a1B2".repeat(4)}`,
  `pk_test_${"a1B2".repeat(4)}`,
  `glpat-${"a1B2".repeat(5)}`,
  `npm_${"a1B2".repeat(9)}`,
  `hf_${"a1".repeat(15)}`,
  `gsk_${"a1B2".repeat(10)}`,
  `pypi-${"a1".repeat(25)}`,
  "eyJhbGciOi1.eyJzdWIiO12.c2lnbmF0",
  `AccountKey=${"a/B+".repeat(10)}`,
  "://user:p@",
  "://:p@",
  "-----BEGIN PRIVATE KEY-----",
];

Deno.test("each text in which a detector of keys finds something may have a key", () => {
  for (const key of KEYS) assert(hasKey(key) && mayHaveKey(key), key);
  const words = ["word ", ".", "/", "=", "a", "sk-", "_-", ' "x": ', "\n", ":", "é", "😀", "@"];
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...words) },
    fc.constantFrom(...KEYS),
    fc.constantFrom(...KEYS).map((key) => key.slice(1)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      assert(!hasKey(text) || mayHaveKey(text), text);
      // As it is written in JSON, and in JSON in a string of JSON.
      const json = JSON.stringify({ text });
      assert(!hasKey(text) || (mayHaveKey(json) && mayHaveKey(JSON.stringify(json))), json);
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("a key with an escaped letter may be a key, and words, paths and addresses are none", () => {
  assert(mayHaveKey(String.raw`\u0073k-${"a1B2".repeat(5)}`));
  assert(mayHaveKey(String.raw`postgres:\/\/u:p@h`));
  for (
    const text of [
      "",
      "some words, a/long/path/to/a.file and https://example.com:8080/a?b=c",
      "getUserAccountNameFromTheRequest(argument_with_a_name)",
      "AKIA sk-1 xoxb- ghp_ eyJ",
    ]
  ) {
    assert(!mayHaveKey(text), text);
  }
});
