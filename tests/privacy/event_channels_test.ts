import { eventChannels, PART_NUMBERS } from "../../src/privacy/event_channels.ts";
import { newRecordRestorer } from "../../src/privacy/restore_records.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answerOf, CORES } from "./answer_cases.ts";
import { deliveredBy, eventOf, PLAIN } from "./stream_cases.ts";

const LONG = "x".repeat(100_000);

Deno.test("no text of a stream has a long name, whatever the names and indexes of its events are", () => {
  const events = [
    { type: "response.output_text.delta", output_index: LONG, content_index: LONG, delta: "a" },
    { type: "content_block_delta", index: LONG, delta: { text: "a" } },
    { choices: [{ index: 0, delta: { tool_calls: [{ index: LONG }] } }] },
  ];
  const paths = [["delta"], ["delta", "text"], ["choices", 0, "delta", "tool_calls", 0, "id"]];
  for (const [at, event] of events.entries()) {
    const { channelOf } = eventChannels(event);
    const name = channelOf(paths[at] ?? []);
    assert(name !== null && name.length < 1_000, `${at}: ${name?.length}`);
    const path = paths[at] ?? [];
    assertEquals(channelOf([...path.slice(0, 3), LONG]), null);
    assertEquals(channelOf([...path.slice(0, 3), ...Array(100).fill("a")]), null);
  }
  const { channelOf } = eventChannels({ type: `${LONG}.delta` });
  assertEquals(channelOf(["delta"]), null);
});

Deno.test("the pieces of two parts of an item are pieces of two texts, which end each by itself", () => {
  for (const name of PART_NUMBERS) {
    const channels = [0, 1].map((number) => {
      const event = { type: "response.part.delta", output_index: 0, [name]: number };
      return eventChannels(event).channelOf(["delta", "stdout"]) ?? "";
    });
    const { isEnded } = eventChannels({ type: "response.part.done", output_index: 0, [name]: 0 });
    assertEquals(channels.map((one) => isEnded(one, new Set())), [true, false], name);
  }
});

Deno.test("an event opens no more than 1,024 texts: further strings are searched as whole ones", () => {
  const { answer } = answerOf();
  let opened = 0;
  const counted = {
    ...answer,
    inStream() {
      opened += 1;
      return answer.inStream();
    },
  };
  const restorer = newRecordRestorer(counted, PLAIN);
  const texts = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, at) => [`t${at}`, CORES.mail]),
  );
  const { records } = deliveredBy(restorer.push(eventOf({ type: "a.delta", ...texts })));
  assertEquals(opened, 1_024);
  const all = [...records, ...restorer.end().records].map(({ data }) => data).join("");
  assertEquals(all.match(/bob\.miller@example\.com/g)?.length, 5_000);
});
