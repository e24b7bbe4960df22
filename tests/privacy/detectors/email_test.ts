import { assert, assertEquals } from "../../support/assert.ts";
import { valuesOf } from "../rules.ts";

function emails(text: string): string[] {
  return valuesOf(text, "find: [email], action: mask");
}

Deno.test("an address is found whole, with its signs and beyond ASCII", () => {
  assertEquals(emails("Mail bob.miller+tag@mail.example.co.uk, now."), [
    "bob.miller+tag@mail.example.co.uk",
  ]);
  assertEquals(emails("<a@b.invalid>(c_d%e@x-y.example)"), ["a@b.invalid", "c_d%e@x-y.example"]);
  assertEquals(emails("jürgen@müller.de"), ["jürgen@müller.de"]);
});

Deno.test("an address with a percent-encoded sign is found", () => {
  assertEquals(emails("https://x.test/?to=user%40example.com&x"), ["user%40example.com"]);
  assertEquals(emails("?q=ask%20tom%2Bnews@example.com%2Cf%C3%BCr%40example.org"), [
    "tom%2Bnews@example.com",
    "f%C3%BCr%40example.org",
  ]);
  assertEquals(emails(String.raw`C:\Users\x>\x1b[31mtom@example.com`), ["tom@example.com"]);
  // The added line of a difference.
  assertEquals(emails("+tom@example.com"), ["tom@example.com"]);
});

Deno.test("the letters of an escape are no part of an address in JSON inside a text", () => {
  assertEquals(emails(String.raw`{"a":"x\nbob@example.com\ty"}`), ["bob@example.com"]);
  assertEquals(emails(String.raw`{"a":"\u0041bob@example.com"}`), ["bob@example.com"]);
  assertEquals(emails(String.raw`{"a":"print(\"x\\nbob@example.com\")"}`), ["bob@example.com"]);
  assertEquals(emails(String.raw`{"a":"C:\\Users\\x","b":"x\ntom@example.com"}`), [
    "tom@example.com",
  ]);
  assertEquals(
    emails(String.raw`{"a":"Plan B:\ntom@example.com","b":"C:\\Users\\x\nbob@example.com"}`),
    [
      "tom@example.com",
      "bob@example.com",
    ],
  );
});

Deno.test("an address behind a backslash that escapes nothing is found whole", () => {
  for (const name of ["user", "ursula", "bob", "frank"]) {
    assertEquals(emails(`CORP\\${name}@example.com`), [`${name}@example.com`]);
  }
  for (const path of ["C:\\", "C:\\Users", "d:\\new", "\\\\server\\mail"]) {
    for (const name of ["tom", "nancy", "robert", "uwe"]) {
      assertEquals(emails(`${path}\\${name}@example.com.ost`), [`${name}@example.com.ost`]);
    }
  }
});

Deno.test("the end of a sentence, of a label and of a domain is no part of an address", () => {
  assertEquals(emails("to bob@example.com. Or 'al@example.org'..."), [
    "bob@example.com",
    "al@example.org",
  ]);
  assertEquals(emails("bob@example.com-"), ["bob@example.com"]);
  for (const behind of ["-x", "-2026", "2026", "-x.1", "--a"]) {
    assertEquals(emails(`bob@example.com${behind}`), ["bob@example.com"], behind);
  }
  const [long = ""] = emails(`bob@example.com${"A".repeat(100)}`);
  assert(long.startsWith("bob@example.comA"));
  assertEquals(emails("bob@example.com-x.org, al@x2.example-3.net"), [
    "bob@example.com-x.org",
    "al@x2.example-3.net",
  ]);
});

Deno.test("a token next to an address is no part of it, and hides it only directly before it", () => {
  const token = "qzbadofikumapolosiemail";
  for (const between of ["-", ".", "_", "+", "'", "%20", "%2C", ","]) {
    const [found = ""] = emails(`${token}${between}eve@example.com${between}${token}`);
    assert(found.endsWith("eve@example.com"), `${between} ${found}`);
  }
  assertEquals(emails(`eve@example.com${token.toUpperCase()}`), ["eve@example.com"]);
  for (const none of [`${token}eve@example.com`, `eve@${token}.com`, `${token}@example.com`]) {
    assertEquals(emails(none), [], none);
  }
});

Deno.test("addresses in a row are found in whichever form each has its sign", () => {
  const both = ["bob@example.com", "eve%40example.org"];
  assertEquals(emails("bob@example.com%20eve%40example.org"), both);
  assertEquals(emails("bob%40example.com-eve@example.org"), [
    "bob%40example.com",
    "eve@example.org",
  ]);
});

Deno.test("what lacks a part of an address is none", () => {
  for (const text of ["@example.com", "bob@", "bob@host", "bob@host.1", "a @ b.com", "bob@.com"]) {
    assertEquals(emails(text), [], text);
  }
});
