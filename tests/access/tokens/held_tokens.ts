// A program that authenticates two tokens, writes what is in its memory into the file that its
// argument names, and prints how many tokens it remembers and their ends, backwards. The memory of
// all tests of a process would take seconds to write.
import { writeHeapSnapshot } from "node:v8";
import { clients, KEY } from "./clients.ts";

const [path = ""] = Deno.args;
const { made, check } = await clients();
const backwards = await authenticated();
// The runtime holds the last text that a regular expression has matched.
/other/.test("other text");
writeHeapSnapshot(path);
console.log(JSON.stringify({ size: made.size, backwards }));

/** Ends of tokens that were authenticated, backwards, so that no text of a token stays here. */
async function authenticated() {
  const tokens = [await KEY.sign({ jti: "1" }), await KEY.sign({ aud: "other" })];
  for (const token of tokens) await check(token);
  return tokens.map((token) => [...token.slice(-80)].toReversed().join(""));
}
