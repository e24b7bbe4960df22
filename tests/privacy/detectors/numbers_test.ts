import { assertEquals } from "../../support/assert.ts";
import { valuesOf } from "../rules.ts";

const CARD = "find: [card], action: mask";
const SSN = "find: [us_ssn], action: mask";
const PHONE = "find: [phone], action: mask";

/** Numbers for tests that the brands publish. */
const CARDS = [
  "4111111111111111",
  "4222222222222",
  "5555555555554444",
  "2223003122003222",
  "378282246310005",
  "6011111111111117",
  "3530111333300000",
  "30569309025904",
  "6212345678900000003",
];

/** Blanks and a hyphen at which no line breaks. */
const FIRM = ["\u00a0", "\u202f", "\u2011"];

Deno.test("cards are found without separators, with blanks and with hyphens", () => {
  for (const card of CARDS) {
    for (const separator of ["", " ", "-", ...FIRM]) {
      const written = card.replace(/(\d{4})(?=\d)/g, `$1${separator}`);
      assertEquals(valuesOf(`card ${written}.`, CARD), [written], written);
      assertEquals(valuesOf(String.raw`{"a":"\n${written}"}`, CARD), [written], written);
    }
  }
});

Deno.test("the letters and digits of an escape are no part of a number in JSON inside a text", () => {
  for (
    const [number, rule] of [
      ["4111 1111 1111 1111", CARD],
      ["4111111111111111", CARD],
      ["912-34-5678", SSN],
      ["212-555-0123", PHONE],
      ["+12125550123", PHONE],
      ["DE89370400440532013000", "find: [iban], action: mask"],
    ] as const
  ) {
    // In the arguments of a tool that are code a backslash is escaped itself.
    for (
      const escape of [
        "\\n",
        "\\\\n",
        "\\u003e",
        "\\\\u003e",
        "\\\\\\u2011",
        "%20",
        "\x1b[1;31m",
        "\\u001b[K",
      ]
    ) {
      assertEquals(valuesOf(`"a${escape}${number}\\u003c"`, rule), [number], escape);
    }
  }
});

Deno.test("no card with one other digit is found", () => {
  for (const card of CARDS) {
    for (let at = 0; at < card.length; at++) {
      for (let digit = 0; digit < 10; digit++) {
        const other = card.slice(0, at) + digit + card.slice(at + 1);
        if (other !== card) assertEquals(valuesOf(other, CARD), [], other);
      }
    }
  }
});

Deno.test("digits that go on, parts of words and of fractions, and one digit are no cards", () => {
  for (
    const text of [
      "41111111111111110",
      "a4111111111111111",
      "4111111111111111b",
      "0.4111111111111111",
      "4444444444444448".replace(/./g, "0"),
      "4111 1111  1111 1111",
    ]
  ) assertEquals(valuesOf(text, CARD), [], text);
});

Deno.test("a card behind another number is found", () => {
  assertEquals(valuesOf("12-4111 1111 1111 1111", CARD), ["4111 1111 1111 1111"]);
});

Deno.test("social security numbers are found, also of areas that were never issued", () => {
  assertEquals(valuesOf("SSN 987-65-4321 or 123.45.6789, 123 45 6789", SSN), [
    "987-65-4321",
    "123.45.6789",
    "123 45 6789",
  ]);
  for (const separator of FIRM) {
    const number = ["987", "65", "4321"].join(separator);
    assertEquals(valuesOf(`SSN ${number}.`, SSN), [number]);
  }
});

Deno.test("numbers without an area, a group or a serial, and other groups are none", () => {
  for (
    const text of [
      "000-12-3456",
      "666-12-3456",
      "123-00-4567",
      "123-45-0000",
      "123-45.6789",
      "1123-45-6789",
      "123-45-67890",
      "x123-45-6789",
    ]
  ) assertEquals(valuesOf(text, SSN), [], text);
});

Deno.test("telephone numbers are found with a plus, or in groups as in North America", () => {
  assertEquals(
    valuesOf("+49 30 1234567, +12125550147, (212) 555-0147, 212.555.0147, 1-800-555-0199", PHONE),
    ["+49 30 1234567", "+12125550147", "(212) 555-0147", "212.555.0147", "1-800-555-0199"],
  );
  for (const separator of FIRM) {
    for (const number of ["+49 30 1234567", "212 555 0147", "(212) 555 0147"]) {
      const written = number.replaceAll(" ", separator);
      assertEquals(valuesOf(`Call ${written}.`, PHONE), [written], written);
    }
  }
});

Deno.test("a telephone number with a plus is found before other numbers", () => {
  for (const behind of [" 94103 San Francisco", "-12345", " 1234567890", " 415"]) {
    assertEquals(
      valuesOf(`Call +14155550134${behind}`, PHONE)[0]?.startsWith("+14155550134"),
      true,
    );
  }
  assertEquals(valuesOf("+14155550134 415-555-0134", PHONE), ["+14155550134", "415-555-0134"]);
  assertEquals(valuesOf("+1 (415) 555-0134 2026-11-29", PHONE), ["+1 (415) 555-0134"]);
  assertEquals(valuesOf("+442079460958 442079460959", PHONE), ["+442079460958"]);
});

Deno.test("dates, addresses of machines and long numbers are no telephone numbers", () => {
  for (const text of ["2024-10-12", "192.168.100.100", "2125550147", "+1234567", "a+12345678"]) {
    assertEquals(valuesOf(text, PHONE), [], text);
  }
});

Deno.test("a telephone number with a plus has 8 to 15 digits, a card 13 to 19", () => {
  const digits = "1234567890123456";
  for (let length = 7; length <= 16; length++) {
    const number = `+${digits.slice(0, length)}`;
    assertEquals(valuesOf(number, PHONE), length >= 8 && length <= 15 ? [number] : []);
  }
  const lengths = new Set<number>();
  for (let length = 12; length <= 20; length++) {
    for (let check = 0; check < 10; check++) {
      const number = `50${"1".repeat(length - 3)}${check}`;
      if (valuesOf(number, CARD).length > 0) lengths.add(length);
    }
  }
  assertEquals([Math.min(...lengths), Math.max(...lengths), lengths.size], [13, 19, 7]);
});
