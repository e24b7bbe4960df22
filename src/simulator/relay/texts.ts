import { newId } from "../../core/ids.ts";
import type { JsonObject, JsonValue } from "../../core/json/json.ts";
import { words } from "../field_checks.ts";
import { hashText } from "../hash.ts";
import { type Answer, defectOf, type SimCall, wholeResponse } from "../sim_call.ts";
import { countWords, splitWords } from "../tokens.ts";
import { eventStream, onJson } from "./model_call.ts";

/** `POST /completions`: repeats the prompt, whole or word by word. */
export function complete(call: SimCall): Promise<Answer> {
  return onJson(call, { needs: ["prompt"] }, ({ model = "", prompt = "", stream }, style) => {
    const words = splitWords(textOf(prompt));
    const { deps } = call;
    const head = {
      id: newId("cmpl-", deps),
      object: "text_completion",
      created: deps.unix(),
      model,
    };
    const choice = (text: string, finish_reason: string | null) => ({
      choices: [{ index: 0, text, finish_reason, logprobs: null }],
    });
    const count = words.length;
    const usage = { prompt_tokens: count, completion_tokens: count, total_tokens: 2 * count };
    if (stream !== true) {
      const whole: JsonObject = { ...head, ...choice(words.join(""), "stop"), usage };
      return wholeResponse(whole, defectOf(style), call);
    }
    const chunks = [
      ...words.map((word) => ({ ...head, ...choice(word, null) })),
      { ...head, ...choice("", "stop"), usage },
    ].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
    return eventStream([...chunks, "data: [DONE]\n\n"], style, call);
  });
}

const CATEGORIES = words(
  "hate hate/threatening harassment harassment/threatening illicit illicit/violent self-harm " +
    "self-harm/intent self-harm/instructions sexual sexual/minors violence violence/graphic",
);

function byCategory(valueOf: (category: string) => JsonValue): JsonObject {
  return Object.fromEntries(CATEGORIES.map((category) => [category, valueOf(category)]));
}

/** `POST /moderations`: flags each text with the word `violence`. */
export function moderate(call: SimCall): Promise<Answer> {
  const options = { usual: "sim-echo", needs: ["input"] };
  return onJson(call, options, ({ model = "", input = "" }, style) => {
    const texts = Array.isArray(input) ? input.map(textOf) : [textOf(input)];
    const results = texts.map((text) => {
      const flagged = text.includes("violence");
      const isFound = (category: string) => flagged && category === "violence";
      return {
        flagged,
        categories: byCategory(isFound),
        category_scores: byCategory((category) => isFound(category) ? 0.99 : 0.01),
        category_applied_input_types: byCategory(() => ["text"]),
      };
    });
    const whole = { id: newId("modr-", call.deps), model, results };
    return wholeResponse(whole, defectOf(style), call);
  });
}

/** `POST /rerank`: orders the documents by a number that depends on the query and the document. */
export function rerank(call: SimCall): Promise<Answer> {
  return onJson(call, { needs: ["query", "documents"] }, (body, style) => {
    const { model = "", query = "", documents = [] } = body;
    const texts = Array.isArray(documents) ? documents.map(textOf) : [];
    const results = texts
      .map((text, index) => ({
        index,
        relevance_score: hashText(`${textOf(query)}:${text}`) / 2 ** 32,
      }))
      .toSorted((one, other) => other.relevance_score - one.relevance_score);
    const total_tokens = countWords(texts);
    const whole = { model, results, usage: { total_tokens } };
    return wholeResponse(whole, defectOf(style), call);
  });
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
