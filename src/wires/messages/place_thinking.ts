import type { JsonObject } from "../../core/json/json.ts";
import type { ReasoningBlock } from "../../core/stream/reasoning.ts";

/**
 * Returns the texts and calls of a message with its stored thinking blocks where the model had
 * written them. A client sends one text for all texts of the response, so the text is divided at
 * the place of a block. No part is only white space, which the upstream refuses.
 */
export function placeThinking(
  stored: readonly ReasoningBlock[],
  texts: readonly JsonObject[],
  calls: readonly JsonObject[],
): readonly JsonObject[] {
  const placed: JsonObject[] = [];
  let next = 0;
  let textBefore = 0;
  for (const block of texts) {
    const text = typeof block.text === "string" ? block.text : "";
    const end = text.trimEnd().length;
    let from = 0;
    let visible = text.search(/\S/);
    for (let one = stored[next]; one?.callsBefore === 0; one = stored[++next]) {
      const place = (one.textBefore ?? 0) - textBefore;
      if (place >= end) break;
      if (place > visible) {
        placed.push({ type: "text", text: text.slice(from, place) });
        from = place;
        visible = from + text.slice(from).search(/\S/);
      }
      placed.push(one.value);
    }
    placed.push(from === 0 ? block : { ...block, text: text.slice(from) });
    textBefore += text.length;
  }
  for (const [index, call] of calls.entries()) {
    for (
      let one = stored[next];
      one !== undefined && one.callsBefore <= index;
      one = stored[++next]
    ) {
      placed.push(one.value);
    }
    placed.push(call);
  }
  return [...placed, ...stored.slice(next).map(({ value }) => value)];
}
