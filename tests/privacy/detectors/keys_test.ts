import { assertEquals } from "../../support/assert.ts";
import { valuesOf } from "../rules.ts";

/** Matches of each detector. None of them is a key that was ever valid. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  aws_key: ["AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE"],
  github_token: [
    "ghp_EXAMPLENOTAREALGITHUBTOKEN0000000000",
    `github_pat_${"1A".repeat(11)}_${"b".repeat(59)}`,
  ],
  slack_token: ["xoxb-00000-00000-EXAMPLENOTAREALTOKEN"],
  api_key: [
    `sk-proj-${"aB3_".repeat(12)}`,
    `sk-ant-api03-${"x".repeat(80)}`,
    `AIza${"S".repeat(35)}`,
    `sk_live_${"a1".repeat(12)}`,
    `rk_test_${"a1".repeat(12)}`,
    `glpat-${"x".repeat(20)}`,
    `npm_${"a".repeat(36)}`,
    `hf_${"b".repeat(34)}`,
    `gsk_${"b".repeat(52)}`,
    `pypi-${"A".repeat(160)}`,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz",
  ],
};

Deno.test("keys are found by their prefix, between any signs and behind escapes", () => {
  for (const [detector, keys] of Object.entries(KEYS)) {
    for (const key of keys) {
      const before = [
        "",
        "key=",
        '"',
        String.raw`a\n`,
        String.raw`\u003c`,
        "%20",
        "_",
        "my_",
        "-",
        "a\n--",
        "\x1b[31m",
        String.raw`\x1b[0;31m`,
      ];
      // Words joined by hyphens may have the other prefixes.
      if (!/^(?:sk|xox.|glpat|pypi)-/.test(key)) before.push("my-");
      for (const text of [`key=${key};`, `"${key}"`, ...before.map((one) => `${one}${key}`)]) {
        assertEquals(valuesOf(text, `find: [${detector}], action: mask`), [key], text);
      }
    }
  }
});

Deno.test("a prefix in the middle of a word begins no key", () => {
  for (const [detector, keys] of Object.entries(KEYS)) {
    for (const key of keys) {
      assertEquals(valuesOf(`xx${key}`, `find: [${detector}], action: mask`), [], key);
    }
  }
});

Deno.test("of the beginnings of a signed token behind underscores the last one counts, so that no text is read twice", () => {
  const key = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz";
  const find = (text: string) => valuesOf(text, "find: [api_key], action: mask");
  assertEquals(find(`a${"_eyJ".repeat(50)}_${key}`), [key]);
  assertEquals(find(`eyJ${"_eyJ".repeat(50)}_${key}`), [`eyJ${"_eyJ".repeat(50)}_${key}`]);
});

Deno.test("of an account key and of a password in an address only the secret counts", () => {
  const key = "A1b2".repeat(21);
  const find = (text: string) => valuesOf(text, "find: [api_key], action: mask");
  assertEquals(find(`AccountName=x;AccountKey=${key};`), [key]);
  assertEquals(find("postgres://user:s3cr:et@db.test:5432/x"), ["s3cr:et"]);
  assertEquals(find(String.raw`"postgres:\/\/user:s3cr:et@db.test\/x"`), ["s3cr:et"]);
  assertEquals(find("https://host:8080/a@b"), []);
  assertEquals(find("db://user:P@ssw0rd!@db.test"), ["P@ssw0rd!"]);
  assertEquals(find("db://user:s3cr:et@db.test,bob@example.com"), ["s3cr:et"]);
  // Two strings of a request, with what is between them in a search.
  assertEquals(find("http://host\0to:bob@example.com"), []);
  // Two members of an object.
  for (const url of ["https://a.test", "http://a.test:80", "http://a:b:80"]) {
    const text = JSON.stringify({ url, to: "bob@example.com", scope: "@types" });
    for (const one of [text, JSON.stringify(text)]) assertEquals(find(one), []);
  }
  assertEquals(find('http://user:s3"cr:et@db.test'), ['s3"cr:et']);
});

Deno.test("five nouns joined by hyphens are no key", () => {
  const all = Object.keys(KEYS).join(", ");
  assertEquals(valuesOf("bracket-gravel-kettle-pantry-socket", `find: [${all}], action: mask`), []);
});
