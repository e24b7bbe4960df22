import { writeHeapSnapshot } from "node:v8";
import { clients, KEY } from "./clients.ts";

// A thread that has authenticated two tokens, and writes what is in its memory into the file of the
// message: the memory of all tests of a process would take seconds to write.

/** Ends of tokens that were authenticated, backwards, so that no text of a token stays here. */
async function authenticated(check: Awaited<ReturnType<typeof clients>>["check"]) {
  const tokens = [await KEY.sign({ jti: "1" }), await KEY.sign({ aud: "other" })];
  for (const token of tokens) await check(token);
  return tokens.map((token) => [...token.slice(-80)].toReversed().join(""));
}

const thread = globalThis as unknown as {
  onmessage: (message: MessageEvent<string>) => void;
  postMessage(reply: HeapReply): void;
};

/** What the thread has remembered, and the backwards ends of its tokens. */
export interface HeapReply {
  readonly size: { readonly verified: number; readonly refused: number };
  readonly backwards: readonly string[];
}

thread.onmessage = async ({ data: path }) => {
  const { made, check } = await clients();
  const backwards = await authenticated(check);
  // The runtime holds the last text that a regular expression has matched.
  /other/.test("other text");
  writeHeapSnapshot(path);
  thread.postMessage({ size: made.size, backwards });
};
