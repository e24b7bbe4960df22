import { isObject, type JsonObject, parseJson } from "../src/core/json/json.ts";
import { assert, assertEquals } from "./support/assert.ts";
import { type GoldenAnswer, goldenCases } from "./support/golden.ts";
import { assertValid } from "./support/schemas.ts";

const FOLDERS = [
  "chat_over_compat",
  "chat_over_messages",
  "chat_over_local",
  "chat_over_responses",
];

/** Cases whose upstream leaves the published shapes itself; they are relayed as they are. */
const AS_SENT = "/as_sent/";

/**
 * Cases whose chunks hold what the official client knows and the published shapes do not: custom
 * calls.
 */
const UNPUBLISHED = "/unpublished/";

const chats = FOLDERS.flatMap((folder) =>
  goldenCases(new URL(`golden/${folder}`, import.meta.url).pathname)
    .map((one) => ({ ...one, name: `${folder}/${one.name}` }))
).filter(({ name }) => !name.includes(AS_SENT));

/** The data of each record, in order. */
function recordsOf(body: string): readonly string[] {
  return body.split("\n").flatMap((line) =>
    line.startsWith("data:") ? [line.slice("data:".length).trim()] : []
  );
}

function objectIn(text: string): JsonObject {
  const value = parseJson(text);
  assert(isObject(value), text);
  return value;
}

function choicesOf(chunk: JsonObject): readonly JsonObject[] {
  return Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : [];
}

function checkStream(body: string): void {
  const records = recordsOf(body);
  assertEquals(records.indexOf("[DONE]"), records.length - 1, "[DONE] is the last record");
  const objects = records.slice(0, -1).map(objectIn);
  const chunks = objects.filter((object) => object.error === undefined);
  const errors = objects.filter((object) => object.error !== undefined);
  for (const chunk of chunks) assertValid("CreateChatCompletionStreamResponse", chunk);
  for (const error of errors) {
    assertValid("ErrorResponse", error);
    assertEquals(Object.keys(error), ["error"]);
  }
  assertEquals(new Set(chunks.map(({ id, created }) => `${id} ${created}`)).size, 1);
  if (errors.length > 0) assertEquals(errors, objects.slice(-1), "an error ends the stream");
  else checkEachChoice(chunks);
}

/** The official client throws where a choice has no role, or comes to no end. */
function checkEachChoice(chunks: readonly JsonObject[]): void {
  const choices = chunks.flatMap(choicesOf);
  assert(choices.length > 0, "there is a choice");
  for (const index of new Set(choices.map((choice) => choice.index))) {
    const own = choices.filter((choice) => choice.index === index);
    const roles = own.filter(({ delta }) => isObject(delta) && delta.role === "assistant");
    assertEquals(roles, own.slice(0, 1), "the role comes first, and once");
    const ends = own.filter(({ finish_reason }) => finish_reason !== null);
    assertEquals(ends, own.slice(-1), "the finish comes last, and once");
  }
}

function checkAnswer({ status, headers, body }: GoldenAnswer): void {
  if (status !== 200) assertValid("ErrorResponse", objectIn(body));
  else if (headers["content-type"] === "text/event-stream") checkStream(body);
  else assertValid("CreateChatCompletionResponse", objectIn(body));
}

for (const { name, clientAnswer } of chats) {
  if (name.includes(UNPUBLISHED)) continue;
  Deno.test(`what the client gets has the published shape: ${name}`, () => {
    checkAnswer(clientAnswer);
  });
}

for (const { name, upstreamRequest } of chats) {
  if (!name.startsWith("chat_over_responses/")) continue;
  Deno.test(`what the upstream gets has the published shape: ${name}`, () => {
    assertValid("CreateResponse", objectIn(upstreamRequest.body));
  });
}

Deno.test("the shapes of whole answers, of streams and of errors are all checked", () => {
  const kinds = new Set(
    chats.map(({ clientAnswer: { status, headers } }) =>
      status === 200 ? headers["content-type"] : "error"
    ),
  );
  assertEquals([...kinds].toSorted(), ["application/json", "error", "text/event-stream"]);
});
