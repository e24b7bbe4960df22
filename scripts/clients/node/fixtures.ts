import assert from "node:assert/strict";
import { z } from "zod";
import fixtures from "../fixtures.json" with { type: "json" };

export { fixtures };

/** The fixture image as a data URL. */
export const IMAGE_URL = `data:image/png;base64,${fixtures.image}`;

/** Schemas of the two tools and of the structured output, the same as in the fixtures. */
export const WEATHER = z.object({ city: z.enum(["Oslo", "Bern"]) });
export const CLOCK = z.object({ zone: z.enum(["UTC", "CET"]) });
export const REPORT = z.object({
  city: z.enum(["Oslo", "Bern"]),
  degrees: z.number(),
  hours: z.array(z.string()),
});

/** The two tools: each throws if its arguments break its schema. */
export function weather(input: unknown): string {
  return `sunny in ${WEATHER.strict().parse(input).city}`;
}
export function clock(input: unknown): string {
  return `noon in ${CLOCK.strict().parse(input).zone}`;
}

/** Runs the tool of this name with its arguments as JSON. */
export function runTool(name: string, json: string): string {
  assert(name === "weather" || name === "clock", `there is no tool ${name}`);
  return (name === "weather" ? weather : clock)(JSON.parse(json));
}

/** Checks the pieces of a stream: several, which together are the text. */
export function checkStream(pieces: readonly string[], text = fixtures.question): void {
  assert.equal(pieces.join(""), text);
  assert(pieces.filter((piece) => piece !== "").length > 2, "the text came in one piece");
}

/** Checks that the model has read all turns of the conversation, in order. */
export function checkTranscript(text: string): void {
  assert.deepEqual(text.split("\n"), fixtures.transcript);
}

/** Checks that the bytes of the image have reached the model. */
export function checkImage(text: string): void {
  assert(text.includes(fixtures.imageQuestion), text);
  assert(text.includes(fixtures.imageText), text);
}

/** Checks that the model thought about this question. */
export function checkThinking(thinking: string | null | undefined): void {
  assert(thinking?.startsWith(fixtures.thinkingText), `the thinking is ${thinking}`);
}

/**
 * Checks that the second step of a tool loop has everything of the first. `hasThinking` is false
 * for a client that sends no thinking back.
 */
export function checkRecalled(text: string | null, hasThinking: boolean): void {
  const isShown = (line: string) => hasThinking || !line.startsWith("thinking: ");
  assert.deepEqual(text?.split("\n").filter(isShown), fixtures.recalled.filter(isShown));
}

/** Checks embeddings of different texts: vectors of length one that are not the same. */
export function checkEmbeddings(vectors: readonly (readonly number[])[]): void {
  assert.equal(vectors.length, 2);
  for (const vector of vectors) {
    assert(vector.length > 1);
    assert(Math.abs(Math.hypot(...vector) - 1) < 1e-5, "the vector has another length than one");
  }
  assert.notDeepEqual(vectors[0], vectors[1]);
}
