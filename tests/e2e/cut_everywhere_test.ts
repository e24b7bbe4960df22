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
  // The decoders are cut at every byte, in tests/wires/cut_streams_test.ts.
  steps: { clean: 7, reset: 17, connection: 53 },
  read(text) {
    const { ending, chunks } = delivered(text);
    // The parts that can be compared: ids and times differ.
    const records = chunks.map(({ choices, usage = null }) => JSON.stringify({ choices, usage }));
    return { text, isComplete: ending === "complete", records };
  },
});
