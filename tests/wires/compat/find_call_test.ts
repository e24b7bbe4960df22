import { indexIn, newCallFinder } from "../../../src/wires/compat/find_call.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const LONG = "x".repeat(100_000);

const PIECE = { id: "", name: "f", text: "", isCustom: false, index: 0, signature: null };

Deno.test("the index of a call is a number or the beginning of a text", () => {
  assertEquals([indexIn({ index: 3 }), indexIn({ index: "a" }), indexIn({})], [3, "a", null]);
  assertEquals([indexIn({ index: [LONG] }), indexIn({ index: { a: 1 } })], [null, null]);
  const [one, other] = [indexIn({ index: `${LONG}1` }), indexIn({ index: `${LONG}2` })];
  assert(typeof one === "string" && one.length <= 256 && one === other);
});

Deno.test("a finder has nothing of the arrays that calls came in, and still finds two calls in one of them", () => {
  const finder = newCallFinder();
  for (const list of [1, 1, 2]) finder.find({ ...PIECE, text: LONG }, list);
  assertEquals(finder.calls.length, 2);
  assert(JSON.stringify(finder.calls).length < 1_000);
});
