import fc from "fast-check";
import { isObject, type JsonObject, parseJson } from "../../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { relayed } from "./native_stream.ts";

const TERMINALS = ["completed", "incomplete", "failed", "cancelled", "canceled"];
const TYPES = [
  ...["created", "queued", "in_progress", "output_text.delta", "output_item.done"],
  ...TERMINALS,
].map((name) => `response.${name}`);

/** Mostly what is right, so that streams get somewhere. */
function mostly<T>(right: T, ...wrong: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 12, arbitrary: fc.constant(right) }, {
    weight: 1,
    arbitrary: fc.constantFrom(...wrong),
  });
}

/**
 * An event: how far its number is from the one before, and which of its parts are as they should
 * be.
 */
interface Step {
  readonly type: string;
  readonly step: number;
  readonly id: string | null;
  readonly topId: string | undefined;
  readonly status: string | null;
  readonly name: string | null;
  readonly background: boolean;
}

const STEPS: fc.Arbitrary<Step> = fc.record({
  type: fc.constantFrom(...TYPES),
  step: mostly(1, 0, -1, 2, 0.5),
  id: mostly<string | null>("resp_1", "resp_2", "", null),
  topId: mostly<string | undefined>(undefined, "resp_1", "resp_2", " resp_1"),
  status: mostly<string | null>(null, "completed", "in_progress"),
  name: mostly<string | null>(null, "response.completed", "error", ""),
  background: fc.boolean(),
});
const JUNK = fc.constantFrom(": ping\n\n", "data:\n\n", "data: [DONE]\n\n", "data: {\n\n", "\n");
const STREAMS = fc.array(
  fc.oneof({ weight: 9, arbitrary: STEPS }, { weight: 1, arbitrary: JUNK }),
  { maxLength: 12 },
);

function recordsOf(stream: readonly (string | Step)[]): readonly string[] {
  let sequence = -1;
  return stream.map((each) => {
    if (typeof each === "string") return each;
    const { type, step, id, topId, status, name, background } = each;
    sequence += step;
    const word = type.replace("response.", "");
    const event = {
      type,
      sequence_number: sequence,
      response_id: topId,
      ...!word.includes(".") && {
        response: { id, object: "response", status: status ?? word, background },
      },
      ...word === "output_item.done" && { output_index: 0, item: { id: "msg_1" } },
    };
    return `event: ${name ?? type}\ndata: ${JSON.stringify(event)}\n\n`;
  });
}

function eventsIn(text: string): JsonObject[] {
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => {
    const event = parseJson(data);
    assert(isObject(event));
    return event;
  });
}

Deno.test("whatever a provider sends, sequence numbers rise, and there is one terminal event of one response", async () => {
  let complete = 0;
  let broken = 0;
  const property = fc.asyncProperty(STREAMS, fc.nat(200), async (stream, readSize) => {
    const sent = recordsOf(stream).join("");
    const answer = await relayed(sent, { readSize: readSize + 1 });
    if (answer.refused !== null) return assertEquals(answer.text, "");
    const events = eventsIn(answer.text);
    const numbers = events.map((event) => Number(event.sequence_number));
    assertEquals(numbers, [...new Set(numbers)].toSorted((a, b) => a - b));
    const isEnd = ({ type }: JsonObject) => TERMINALS.some((end) => type === `response.${end}`);
    assertEquals(events.filter(isEnd), events.slice(-1));
    const ids = events.flatMap(({ response, response_id }) => [
      ...isObject(response) ? [response.id ?? null] : [],
      response_id ?? null,
    ]).filter((id) => id !== null);
    assertEquals(new Set(ids).size, 1);
    if (answer.broken === null) {
      complete++;
      assert(sent.startsWith(answer.text));
    } else {
      broken++;
      const last = answer.text.lastIndexOf("event: ");
      assert(sent.startsWith(answer.text.slice(0, last)));
      assertEquals<unknown>(events.at(-1)?.type, "response.failed");
    }
  });
  await fc.assert(property, { numRuns: 250 });
  assert(complete > 20 && broken > 20, `${complete} complete, ${broken} broken`);
});
