import { chatInit } from "./chat_call.ts";
import { testCuts } from "./cut_body.ts";
import { delivered } from "./delivered.ts";

testCuts({
  path: "/v1/chat/completions",
  init: chatInit({ stream: true, stream_options: { include_usage: true } }),
  names: (wire, ending) => [
    `a ${wire} stream may end at any byte (${ending})`,
    `a ${wire} connection may end at any byte (${ending})`,
  ],
  // The ending changes nothing in what comes before it, which a clean one cuts at every byte.
  steps: { clean: 1, reset: 5, connection: 23 },
  read(text) {
    const { ending, chunks } = delivered(text);
    // The parts that can be compared: ids and times differ.
    const records = chunks.map(({ choices, usage = null }) => JSON.stringify({ choices, usage }));
    return { text, isComplete: ending === "complete", records };
  },
});
