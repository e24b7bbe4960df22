import {
  counted,
  decimal,
  dollars,
  duration,
  percent,
  short,
  size,
  timeLeft,
} from "../../../src/admin/page/format.js";
import { cut, visible } from "../../../src/admin/page/visible.js";
import { assertEquals } from "../../support/assert.ts";

Deno.test("durations of the admin page have the unit that fits them", () => {
  const shown = [null, 0.04, 12.34, 999.96, 1834.2, 65_000, 3_723_000, 93_784_000].map(duration);
  assertEquals(shown, [
    "–",
    "0.04 ms",
    "12.3 ms",
    "1,000 ms",
    "1.83 s",
    "1 min 5 s",
    "1 h 2 min",
    "1 d 2 h",
  ]);
  assertEquals([timeLeft(17_300), timeLeft(61_000)], ["18 s", "1 min 1 s"]);
});

Deno.test("sizes, numbers, shares and amounts of the admin page have units", () => {
  assertEquals([12, 1_204, 8_214_032, 2e9].map(size), ["12 B", "1.2 kB", "8.21 MB", "2 GB"]);
  assertEquals([0, 0.25, 12_345, 123_456, 1.5e6, 2e9].map(short), [
    "0",
    "0",
    "12,345",
    "123 k",
    "1.5 M",
    "2 G",
  ]);
  assertEquals([0.123456, 12.34, 1234.5].map(decimal), ["0.123", "12.3", "1,235"]);
  assertEquals([null, 0, 0.001, 0.5].map(percent), ["–", "0 %", "< 1 %", "50 %"]);
  assertEquals([0.996, 1, 1.2].map(percent), ["> 99 %", "100 %", "120 %"]);
  assertEquals(dollars(1_234_567.5), "$1,234,567.50");
  assertEquals([null, 0, 0.000231, 12.4].map(dollars), ["–", "$0", "$0.000231", "$12.40"]);
  assertEquals([counted(1, "call"), counted(2, "call")], ["1 call", "2 calls"]);
});

Deno.test("control characters and changes of text direction are written as their code", () => {
  assertEquals(visible("a\u202eb\u0000c\u2066\u001b[31m"), "a\\u202eb\\u0000c\\u2066\\u001b[31m");
  assertEquals(visible("tabs\tand\nlines, שלום"), "tabs\tand\nlines, שלום");
});

Deno.test("characters without width are written as their code, but joiners of words and emoji are not", () => {
  assertEquals(visible("ad\u200bmin\u200e\u2060\u00ad"), "ad\\u200bmin\\u200e\\u2060\\u00ad");
  assertEquals(visible("a\u{e0041}"), "a\\udb40\\udc41");
  assertEquals(visible("👩\u200d💻 می\u200cخواهم"), "👩\u200d💻 می\u200cخواهم");
});

Deno.test("characters that are drawn as nothing or a blank are written as their code", () => {
  const drawn = visible("g\u034fp\u115ft\u3164-\uffa0 \u2800\u17b4\u180b\u{e0100}\u{1d173}");
  const code = "g\\u034fp\\u115ft\\u3164-\\uffa0 \\u2800\\u17b4\\u180b\\udb40\\udd00\\ud834\\udd73";
  assertEquals(drawn, code);
  assertEquals(
    visible("I \u2764\ufe0f \u0628\u0650 e\u0301"),
    "I \u2764\ufe0f \u0628\u0650 e\u0301",
  );
});

Deno.test("a name is not cut within a character", () => {
  assertEquals(cut(`${"x".repeat(119)}😀 and more`), `${"x".repeat(119)}…`);
  assertEquals(cut("short 😀"), "short 😀");
});
