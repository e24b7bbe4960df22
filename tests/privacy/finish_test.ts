import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../src/core/json/json.ts";
import { newPrivacyCounts } from "../../src/core/privacy_counts.ts";
import { kindOf } from "../../src/privacy/answer_members.ts";
import { type StringPlace, walkStrings } from "../../src/privacy/answer_strings.ts";
import { type AnswerText, newRuleText, type TextKind } from "../../src/privacy/answer_text.ts";
import { finishDocument, finishSteps } from "../../src/privacy/finish.ts";
import { type Objects, objectsOf } from "../../src/privacy/json_strings.ts";
import { atOnce } from "../../src/core/at_once.ts";
import { PIECE_CHARS } from "../../src/privacy/pace.ts";
import { knownObjects, readObjects } from "../../src/privacy/read_objects.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { answerOf, CORES } from "./answer_cases.ts";
import { rulesOf } from "./rules.ts";
import { PLAIN } from "./stream_cases.ts";

const MASKS = "find: [email], phase: response, action: mask";
const MAIL_VALUE = "bob.miller@example.com";

Deno.test("a long answer is searched in pieces, with the same result", () => {
  const rules = () => newRuleText(rulesOf(MASKS), newPrivacyCounts());
  const content = `${"Some words. ".repeat(100_000)}jane@example.org`;
  const text = JSON.stringify({ choices: [{ message: { content } }] });
  const steps = finishSteps(rules(), text, PLAIN);
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count += 1;
  assert(count > content.length / 40_000, `${count} pieces`);
  assertEquals(step.value, text.replace("jane@example.org", "[email]"));
  assertEquals(finishDocument(rules(), text, PLAIN), step.value);
});

/** Returns the result of a search and its number of pieces. */
function stepped(work: Generator<void, string, void>): readonly [string, number] {
  for (let count = 0;; count += 1) {
    const step = work.next();
    if (step.done === true) return [step.value, count];
  }
}

Deno.test("tokens of a long text come back in pieces, also where two pieces meet", () => {
  const token = `${CORES.mail}email`;
  for (const from of [-40, -29, -20, -10, -1, 0, 3]) {
    const content = `${"x".repeat(PIECE_CHARS + from)}${token}${token}${" words".repeat(100_000)}`;
    const text = JSON.stringify({ choices: [{ message: { content } }] });
    const { answer, counts } = answerOf();
    const [finished, count] = stepped(finishSteps(answer, text, PLAIN));
    assertEquals(finished, text.replaceAll(token, MAIL_VALUE));
    assertEquals(counts.restored, 2);
    assert(count > content.length / PIECE_CHARS, `${count} pieces`);
  }
});

Deno.test("log probabilities, positions and the texts of annotations are read in pieces", () => {
  const content = `${"All is well. ".repeat(50_000)}jane@example.org knows`;
  const at = content.indexOf("knows");
  const annotations = Array.from({ length: 5_000 }, () => ({ start_index: at, end_index: at + 5 }));
  const logprobs = { content: Array.from({ length: 5_000 }, () => ({ token: "a", bytes: [97] })) };
  const text = JSON.stringify({ choices: [{ message: { content, annotations }, logprobs }] });
  const searched: string[] = [];
  const rules = newRuleText(rulesOf(MASKS), newPrivacyCounts());
  const answer = {
    ...rules,
    parts(part: string, kind: TextKind) {
      searched.push(part);
      return rules.parts(part, kind);
    },
  };
  const [finished, count] = stepped(finishSteps(answer, text, PLAIN));
  const [choice] = JSON.parse(finished).choices;
  const moved = choice.message.content.indexOf("knows");
  assertEquals(choice.message.annotations.at(-1), { start_index: moved, end_index: moved + 5 });
  assertEquals(choice.logprobs, null);
  // No text is searched again in one piece because of its annotations.
  assertEquals(searched, []);
  // The strings, the log probabilities and the numbers are walked one after the other.
  const tokens = text.split(/[":,]+/).length;
  assert(count > 3 * tokens / 4_096, `${count} pieces of ${tokens} tokens`);
});

Deno.test("JSON that is too large to be parsed is walked, with the same result", () => {
  const token = `${CORES.mail}email`;
  const text = JSON.stringify({ data: [{ url: `to ${token}`, b64_json: token }], id: token });
  for (const problem of [undefined, null, "too_large"] as const) {
    const [finished] = stepped(finishSteps(answerOf().answer, text, PLAIN, problem));
    assertEquals(finished, text.replace(`to ${token}`, `to ${MAIL_VALUE}`));
  }
});

Deno.test("what a tool or a client has named is searched, whatever a member of the protocol of that name has", () => {
  const names = ["id", "type", "role", "model", "status", "signature", "thinking", "data", "to"];
  const named = Object.fromEntries(names.map((name) => [name, `${CORES.mail} jane@example.org`]));
  const input = { ...named, list: [{ ...named }] };
  const text = JSON.stringify({
    id: CORES.mail,
    content: [{ type: "tool_use", id: CORES.mail, name: CORES.mail, input }],
    metadata: named,
  });
  const form = { ...PLAIN, isThinkingSigned: true };
  const rules = newRuleText(rulesOf(MASKS), newPrivacyCounts());
  const finished = finishDocument(answerOf().answer, finishDocument(rules, text, form), form);
  assertEquals(
    finished,
    text.replaceAll(`${CORES.mail} jane@example.org`, `${MAIL_VALUE} [email]`),
  );
});

Deno.test("variables of a prompt have the names of their client, and their files those of a protocol", () => {
  const variables = { id: CORES.mail, model: CORES.mail, file: { file_id: CORES.mail } };
  const text = JSON.stringify({ prompt: { id: CORES.mail, variables } });
  const whole = JSON.parse(finishDocument(answerOf().answer, text, PLAIN));
  assertEquals(whole, {
    prompt: {
      id: CORES.mail,
      variables: { ...variables, id: MAIL_VALUE, model: MAIL_VALUE },
    },
  });
});

Deno.test("the work on an answer grows with its length, however deep its strings are", () => {
  const looks = (depth: number) => {
    let count = 0;
    const get = (object: JsonObject, key: string) => {
      count += 1;
      return object[key];
    };
    let value: JsonValue = Array.from({ length: 100 }, () => "x");
    const inner = JSON.stringify(value);
    for (let at = 0; at < depth; at++) value = new Proxy<JsonObject>({ a: value }, { get });
    const text = `${'{"a":'.repeat(depth)}${inner}${"}".repeat(depth)}`;
    const look = (string: string, place: StringPlace) => void kindOf(place, string, PLAIN);
    atOnce(walkStrings(text, objectsOf(value), look));
    return count;
  };
  const [shallow, deep] = [looks(100), looks(200)];
  assert(deep <= 2.2 * shallow, `${shallow} ${deep}`);
});

Deno.test("the objects of a text say the same of its strings, whether it is parsed or walked in pieces", () => {
  const telling = fc.constantFrom("annotations", "signature", "text", "type", "content", "a");
  const leaf = fc.oneof(
    fc.constantFrom("output_text", "redacted_thinking", `to ${CORES.mail}`, ""),
    fc.integer(),
    fc.constant(null),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: "small" }, leaf, tie("object"), tie("list")),
    object: fc.dictionary(telling, tie("value"), { maxKeys: 4 }),
    list: fc.array(tie("value"), { maxLength: 3 }),
  }));
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (value, space) => {
      const text = JSON.stringify(value, null, space);
      const kinds = (objects: Objects) => {
        const seen: unknown[] = [];
        const walk = walkStrings(text, objects, (string, place) => {
          seen.push([string, kindOf(place, string, PLAIN), place.parent !== null]);
        });
        atOnce(walk);
        return seen;
      };
      const parsed: JsonValue = JSON.parse(text);
      const found = knownObjects(atOnce(readObjects(text)));
      assertEquals(kinds(found), kinds(objectsOf(parsed)));
    }),
    { numRuns: 250 },
  );
});

/** Texts of this many characters, of which each takes a search to another limit. */
const HOSTILE: Readonly<Record<string, (chars: number) => string>> = {
  "tokens in one string": (chars) => JSON.stringify({ text: `${CORES.mail} `.repeat(chars / 19) }),
  "addresses in one string": (chars) => JSON.stringify({ text: "a@b.co ".repeat(chars / 7) }),
  "escaped quotes": (chars) => JSON.stringify({ text: `${'"'.repeat(chars)}${CORES.mail} a@b.co` }),
  "short strings": (chars) => JSON.stringify(Array(chars / 20).fill(`${CORES.mail}`)),
  names: (chars) => {
    const names = Array.from({ length: chars / 20 }, (_, at) => [`n${at}`, ""]);
    return JSON.stringify(Object.fromEntries(names));
  },
  "positions": (chars) => {
    const annotations = Array.from({ length: chars / 40 }, (_, start_index) => ({ start_index }));
    return JSON.stringify({ text: `${CORES.mail} a@b.co `.repeat(1_000), annotations });
  },
  "log probabilities": (chars) =>
    JSON.stringify({ choices: [{ logprobs: Array(chars / 20).fill({ a: "" }) }] }),
};

for (const [name, make] of Object.entries(HOSTILE)) {
  Deno.test(`an answer of ${name} is searched in pieces whose number grows with it`, () => {
    const pieces = (chars: number, search: () => AnswerText) => {
      const text = `[${make(chars)},"${CORES.mail} a@b.co"]`;
      return { text, ...runSteps(finishSteps(search(), text, PLAIN, null)) };
    };
    const masks = () => newRuleText(rulesOf(MASKS), newPrivacyCounts());
    for (const search of [() => answerOf().answer, masks]) {
      const [one, two] = [pieces(250_000, search), pieces(500_000, search)];
      assert(one.result !== one.text);
      assertEquals(one.result === finishDocument(search(), one.text, PLAIN), true);
      assert(one.count >= one.text.length / 125_000, `${one.count} pieces`);
      assert(two.count > 1.6 * one.count, `${one.count} ${two.count} pieces`);
    }
  });
}

function runSteps(work: Generator<void, string, void>) {
  const [result, count] = stepped(work);
  return { result, count };
}

Deno.test("values that make an answer longer than 128 MiB end its search", () => {
  const value = "v".repeat(16_384);
  const { answer } = answerOf([{ core: CORES.mail, label: "email", value }]);
  const text = JSON.stringify({ text: `${CORES.mail} `.repeat(9_000) });
  assertThrows(() => finishDocument(answer, text, PLAIN));
});

Deno.test("JSON that the client has written, and a provider repeats, is JSON with the values of the client", () => {
  const value = 'a "quoted" \\ key\nof two lines';
  const told = (text: string) => JSON.stringify({ [text]: [text] });
  const answerWith = (text: string) => ({
    instructions: told(text),
    tools: [{ type: "custom", name: "f", description: told(text) }],
    metadata: { context: told(text), plain: `of ${text}` },
    data: [
      { type: "function_call_output", call_id: "c", output: told(text) },
      { type: "custom_tool_call_output", output: [{ type: "input_text", text: told(text) }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: told(text) }] },
      { role: "tool", content: told(text), tool_call_id: "c" },
      { role: "user", content: told(text) },
      { role: "system", content: told(text) },
      { role: "user", content: null, content_parts: [{ type: "text", text: told(text) }] },
      { type: "shell_call_output", output: [{ stdout: told(text), stderr: told(text) }] },
      { role: "user", content: `{${text}}` },
    ],
  });
  const finished = finishDocument(
    answerOf().answer,
    JSON.stringify(answerWith(`${CORES.key}iraq`)),
    PLAIN,
  );
  assertEquals(JSON.parse(finished), answerWith(value));
});

Deno.test("JSON of a model that did not have to write it has values as they are, like in a stream", () => {
  const answerWith = (text: string) => ({
    content: [{ type: "tool_use", id: "t", name: "f", input: { body: text } }],
    output: [
      { type: "message", role: "assistant", content: [{ type: "output_text", text }] },
      { type: "shell_call_output", output: [{ stdout: text }] },
    ],
    choices: [{ message: { role: "assistant", content: text }, index: 0 }],
  });
  const sent = JSON.stringify(answerWith(`{"a":"${CORES.key}iraq"}`));
  assertEquals(
    JSON.parse(finishDocument(answerOf().answer, sent, PLAIN)),
    answerWith('{"a":"a "quoted" \\ key\nof two lines"}'),
  );
});
