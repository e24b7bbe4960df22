import fc from "fast-check";
import { isObject, type JsonObject, type JsonValue } from "../../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { valueOf } from "../../../support/translated.ts";
import { TRANSLATED, translateMessages } from "../translated.ts";

/** Texts that occur nowhere else, so that each can be found again. */
let count = 0;

function unique(): string {
  return `<text ${++count}>`;
}

function text(): JsonObject {
  return { type: "text", text: unique() };
}

const IMAGE = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: "AAAA" },
};

/** A block of a user message or of a result. */
const block = fc.constantFrom("text", "empty", "image", "document").map((kind): JsonObject => {
  switch (kind) {
    case "empty":
      return { type: "text", text: "" };
    case "image":
      return { ...IMAGE, source: { ...IMAGE.source, data: btoa(unique()) } };
    case "document":
      return { type: "document", title: unique(), source: { type: "text", data: unique() } };
    default:
      return text();
  }
});

interface Step {
  readonly calls: number;
  readonly says: boolean;
  readonly thinks: boolean;
  readonly results: readonly (readonly JsonObject[])[];
  readonly order: number;
  readonly others: readonly JsonObject[];
  readonly system: "none" | "between" | "behind";
  readonly failed: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  calls: fc.nat({ max: 3 }),
  says: fc.boolean(),
  thinks: fc.boolean(),
  results: fc.array(fc.array(block, { maxLength: 3 }), { minLength: 3, maxLength: 3 }),
  order: fc.nat(),
  others: fc.array(block, { maxLength: 3 }),
  system: fc.constantFrom("none", "between", "behind"),
  failed: fc.boolean(),
});

/** A dialogue that the vendor would take. */
function dialogue(steps: readonly Step[]): JsonValue[] {
  const messages: JsonValue[] = [{ role: "user", content: unique() }];
  for (
    const [at, { calls, says, thinks, results, order, others, system, failed }] of steps.entries()
  ) {
    const ids = Array.from({ length: calls }, (_, index) => `call_${at}_${index}`);
    const input = () => ({ argument: unique() });
    messages.push({
      role: "assistant",
      content: [
        ...thinks ? [{ type: "thinking", thinking: unique(), signature: "" }] : [],
        ...says ? [text()] : [],
        ...ids.map((id) => ({ type: "tool_use", id, name: "f", input: input() })),
      ],
    });
    const note = { role: "system", content: unique() };
    if (system === "between") messages.push(note);
    const answers = ids.map((tool_use_id, index) => ({
      type: "tool_result",
      tool_use_id,
      content: [...results[index] ?? []],
      is_error: failed,
    }));
    const turned = order % 2 === 0 ? answers : answers.toReversed();
    const rest = [...others, text()];
    messages.push({
      role: "user",
      content: order % 3 === 0 ? [...rest, ...turned] : [...turned, ...rest],
    });
    if (system === "behind") messages.push(note);
  }
  return messages;
}

/** Every text of a request. */
function textsOf(value: JsonValue): string[] {
  return JSON.stringify(value).match(/<text \d+>/g) ?? [];
}

const options = { numRuns: 150 };

Deno.test("every text, image and argument of a dialogue is found once in its Chat request", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 5 }), fc.constantFrom(...TRANSLATED), (steps, wire) => {
      const messages = dialogue(steps);
      const { chat } = valueOf(translateMessages(messages, wire));
      const found = textsOf(chat.document.value);
      assertEquals(found.toSorted(), textsOf(messages).toSorted());
      const images = (all: string) =>
        (all.match(/(?<=base64,|"data":")[A-Za-z0-9+/=]{8,}/g) ?? []).toSorted();
      assertEquals(images(chat.document.text), images(JSON.stringify(messages)));
    }),
    options,
  );
});

Deno.test("the results of calls come right behind their message, each once, before anything else", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 5 }), fc.constantFrom(...TRANSLATED), (steps, wire) => {
      const { chat } = valueOf(translateMessages(dialogue(steps), wire));
      const made = chat.document.value.messages;
      assert(Array.isArray(made));
      const open = new Set<JsonValue | undefined>();
      for (const message of made) {
        assert(isObject(message));
        if (message.role === "tool") {
          assert(open.delete(message.tool_call_id), "a result of no open call");
          continue;
        }
        assertEquals(open.size, 0, "another message before all results");
        for (const call of Array.isArray(message.tool_calls) ? message.tool_calls : []) {
          open.add(isObject(call) ? call.id : null);
        }
      }
      assertEquals(open.size, 0);
    }),
    options,
  );
});

Deno.test("the messages of a turn are a prefix of those of every later turn", () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(...TRANSLATED),
      (steps, wire) => {
        const whole = dialogue(steps);
        const list = (messages: JsonValue[]) => {
          const made = valueOf(translateMessages(messages, wire)).chat.document.value.messages;
          return Array.isArray(made) ? made : [];
        };
        const all = list(whole);
        for (const [end, message] of whole.entries()) {
          // A turn ends with what the client says.
          if (!isObject(message) || message.role !== "user") continue;
          const turn = list(whole.slice(0, end + 1));
          assertEquals(all.slice(0, turn.length), turn);
        }
      },
    ),
    options,
  );
});
