import fc from "fast-check";
import { assert, assertEquals } from "../../support/assert.ts";
import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../../src/core/json/json.ts";
import { valueOf } from "../../support/translated.ts";
import { encodeText } from "./target.ts";

const NUMBERS = ["0", "-0", "1.0", "1e2", "-1E+2", "12345678901234567890", "0.10", "-3.5"];

const text = fc.string({ unit: "grapheme", maxLength: 8 });
const number = fc.constantFrom(...NUMBERS);
const base64 = fc.uint8Array({ minLength: 1, maxLength: 9 }).map((bytes) => bytes.toBase64());

const textPart = text.map((value) => ({ type: "text", text: value }));
const imagePart = base64.map((data) => ({
  type: "image_url",
  image_url: { url: `data:image/png;base64,${data}` },
}));

const plain = fc.oneof(
  fc.record({ role: fc.constantFrom("system", "developer", "user"), content: text }),
  fc.record({
    role: fc.constant("user"),
    content: fc.array(fc.oneof(textPart, imagePart), { maxLength: 4 }),
  }),
  fc.record({ role: fc.constant("assistant"), content: fc.option(text), reasoning_content: text }),
).map((message): readonly object[] => [message]);

const call = fc.record({
  name: fc.constantFrom("f", "g", "toString"),
  args: fc.array(number, { maxLength: 3 }).map((list) => `{"a":[${list.join(",")}]}`),
  result: text,
});

/** Calls of an assistant message and their results in any order. */
const calling = fc.array(call, { minLength: 1, maxLength: 3 }).chain((calls) =>
  fc.record({
    calls: fc.constant(calls),
    order: fc.shuffledSubarray([...calls.keys()], { minLength: calls.length }),
    id: fc.uuid(),
  })
).map(({ calls, order, id }): readonly object[] => [
  {
    role: "assistant",
    tool_calls: calls.map(({ name, args }, index) => ({
      id: `${id}-${index}`,
      type: "function",
      function: { name, arguments: args },
    })),
  },
  ...order.map((index) => ({
    role: "tool",
    tool_call_id: `${id}-${index}`,
    content: calls[index]?.result,
  })),
]);

const conversation = fc.array(fc.oneof(plain, calling), { minLength: 1, maxLength: 6 })
  .map((turns) => turns.flat());

Deno.test("no content of a conversation is lost or reordered", () => {
  fc.assert(fc.property(conversation, (messages) => {
    const request = JSON.stringify({ messages });
    const body = parseJson(valueOf(encodeText(request)));
    assert(isObject(body));
    assertEquals(partsOfLocal(body.messages), partsOfChat(parseJson(JSON.stringify(messages))));
  }));
});

Deno.test("numbers keep their text everywhere in the request", () => {
  const options = fc.record({ temperature: number, top_p: number, bound: number, calls: calling });
  fc.assert(fc.property(options, ({ temperature, top_p, bound, calls }) => {
    const parameters = `{"type":"object","properties":{"a":{"minimum":${bound}}}}`;
    const sent = valueOf(encodeText(
      `{"temperature":${temperature},"messages":${JSON.stringify(calls)},"top_p":${top_p},` +
        `"tools":[{"type":"function","function":{"name":"f","parameters":${parameters}}}]}`,
    ));
    const given = [
      ...argumentTexts(calls).map((args) => `"arguments":${args}`),
      `"parameters":${parameters}`,
      `"options":{"temperature":${temperature},"top_p":${top_p}}`,
    ];
    const places = given.reduce<readonly number[]>(
      (found, part) => [...found, sent.indexOf(part, (found.at(-1) ?? -1) + 1)],
      [],
    );
    assertEquals(places.filter((place) => place < 0), [], sent);
  }));
});

function argumentTexts(messages: readonly object[]): readonly string[] {
  return objectsOf(parseJson(JSON.stringify(messages)))
    .flatMap((message) => objectsOf(message.tool_calls))
    .map(({ function: called }) => isObject(called) ? String(called.arguments) : "");
}

function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The content of each message, in a form that both protocols share. */
type Parts = readonly unknown[];

function partsOfChat(messages: JsonValue | undefined): Parts {
  const names = new Map<unknown, unknown>();
  return objectsOf(messages).map((message) => {
    const parts = objectsOf(message.content);
    const images = parts.flatMap(({ image_url }) => isObject(image_url) ? [image_url.url] : []);
    const calls = objectsOf(message.tool_calls).map(({ id, function: called }) => {
      assert(isObject(called));
      names.set(id, called.name);
      return { id, name: called.name, input: parseJson(String(called.arguments)) };
    });
    return {
      role: message.role === "developer" ? "system" : message.role,
      text: parts.length > 0 ? parts.map((part) => part.text ?? "").join("") : plainText(message),
      images: images.map((url) => String(url).replace("data:image/png;base64,", "")),
      thinking: message.reasoning_content ?? "",
      calls,
      answers: message.tool_call_id,
      answered: names.get(message.tool_call_id),
    };
  });
}

function plainText({ content }: JsonObject): JsonValue {
  return typeof content === "string" ? content : "";
}

function partsOfLocal(messages: JsonValue | undefined): Parts {
  return objectsOf(messages).map((message) => ({
    role: message.role,
    text: message.content,
    images: message.images ?? [],
    thinking: message.thinking ?? "",
    calls: objectsOf(message.tool_calls).map(({ id, function: called }, index) => {
      assert(isObject(called) && called.index === index);
      return { id, name: called.name, input: called.arguments };
    }),
    answers: message.tool_call_id,
    answered: message.tool_name,
  }));
}
