import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { recordOnce } from "./run_once.ts";

/** Returns a text with the blocks of its first two differing deltas of text exchanged. */
function exchanged(text: string): string {
  const blocks = text.split("\n\n");
  const positions = [...blocks.keys()].filter((at) =>
    /"(content|text|delta)":"[^"]*word\d/.test(blocks[at] ?? "") &&
    !/\.done"|completed"|output_item/.test(blocks[at] ?? "")
  );
  const [one, other] = positions;
  if (one === undefined || other === undefined) return text;
  return blocks.with(one, blocks[other] ?? "").with(other, blocks[one] ?? "").join("\n\n");
}

/** A record with the end of the arguments of a call. */
const LAST_PIECE = /"(?:arguments|partial_json|delta)":"[^{]*\}"/;

/** Number of models that a use has in turn; as many rounds use each of them once. */
const MODEL_COUNT = 7;

/**
 * Each alteration with the number of models of `MODEL_COUNT` whose answers it changes, and its
 * problem.
 */
const ALTERATIONS: readonly (readonly [string, number, RegExp, (text: string) => string])[] = [
  ["has no usage", 7, /Tokens: received null/, (text) => text.replaceAll('"usage"', '"used"')],
  [
    "counts one token more",
    7,
    /Tokens: received/,
    (text) =>
      text.replaceAll(
        /"((?:output|completion)_tokens)":(\d+)/g,
        (_all, name, count) => `"${name}":${Number(count) + 1}`,
      ),
  ],
  [
    "has another reason of its end",
    6,
    /reason: received|has no end/,
    (text) =>
      text.replaceAll(/"(stop|tool_calls)"(?=[,}])/g, '"length"')
        .replaceAll(/"(end_turn|tool_use)"(?=,"stop_seq)/g, '"max_tokens"')
        .replaceAll('"status":"completed"', '"status":"incomplete"'),
  ],
  [
    "calls a function with a part of its arguments",
    2,
    /calls: received|has no end/,
    (text) =>
      text.replaceAll(/,(\\?)"days\1":3/g, "").split("\n\n")
        .filter((block) => !LAST_PIECE.test(block)).join("\n\n"),
  ],
  ["calls another function", 1, /calls: received/, (text) => text.replaceAll("clock", "watch")],
  [
    "has another ID of its calls",
    2,
    /calls: received/,
    (text) => text.replaceAll(/"(call_|toolu_)/g, '"$1x'),
  ],
  [
    "has another reasoning",
    2,
    /reasoning: received/,
    (text) => text.replaceAll("says:", "said:"),
  ],
  [
    "is cut at its limit with another text",
    1,
    /text: received/,
    (text) => text.replaceAll("middle", "muddle"),
  ],
  [
    "is cut at its limit and says that it is whole",
    1,
    /reason: received/,
    (text) =>
      text.replaceAll('"length"', '"stop"').replaceAll('"max_tokens"', '"end_turn"')
        .replaceAll(/"incomplete_details":\{[^}]*\}/g, '"incomplete_details":null')
        .replaceAll('"status":"incomplete"', '"status":"completed"')
        .replaceAll("response.incomplete", "response.completed"),
  ],
  [
    "reports an error",
    7,
    /has an error/,
    (text) =>
      text.trimStart().startsWith("{")
        ? text.replace(
          text.includes('"error":null,') ? '"error":null,' : /(?<=^\{)/,
          '"error":{"code":"x"},',
        )
        : text.replace(
          /(?:event: \w.*\n)?data: \{/,
          'data: {"type":"error","error":{"code":"x"}}\n\n$&',
        ),
  ],
];

for (const api of ["chat", "responses", "messages"]) {
  for (const kind of ["JSON", "stream"]) {
    const names = new RegExp(`^${api} over (compat|native), ${kind}$`);
    Deno.test(`a soak notices each of ${ALTERATIONS.length} alterations of a ${api} ${kind} answer`, async () => {
      const replay = await recordOnce(names, MODEL_COUNT);
      assertEquals(await replay((text) => text), []);
      for (const [what, models, problem, alter] of ALTERATIONS) {
        const problems = await replay(alter);
        assertEquals(problems.length, 2 * models, [what, ...problems].join("\n"));
        for (const one of problems) assertMatch(one, problem, what);
      }
      if (kind === "JSON") return;
      // Two pieces of text are exchanged.
      const problems = await replay(exchanged);
      assert(problems.length >= 2, problems.join("\n"));
      for (const one of problems) assertMatch(one, /text: received|has no end/);
    });
  }
}

const CHOICE_ALTERATIONS: readonly (readonly [string, RegExp, (text: string) => string])[] = [
  [
    "exchanges two choices",
    /furtherChoices: received/,
    (text) =>
      text.replaceAll(
        /"index":([12])(?=,"(?:delta|finish|message))/g,
        (_all, index) => `"index":${3 - index}`,
      ),
  ],
  [
    "has no third choice",
    /furtherChoices: received/,
    (text) => text.replaceAll('"index":2', '"index":1'),
  ],
  [
    "has another end of its third choice",
    /furtherChoices: received|has no end/,
    (text) =>
      text.replace(/("index":2,(?:"delta":\{\},)?"finish_reason":)"tool_calls"/, '$1"stop"'),
  ],
];

Deno.test(`a soak notices each of ${CHOICE_ALTERATIONS.length} alterations of a chat answer of several choices`, async () => {
  const replay = await recordOnce(/^three choices of chat/, 2);
  assertEquals(await replay((text) => text), []);
  for (const [what, problem, alter] of CHOICE_ALTERATIONS) {
    const problems = await replay(alter);
    // Each use has the model with calls in one of two rounds; their IDs differ between the choices.
    assert(problems.length >= 4, [what, ...problems].join("\n"));
    for (const one of problems) assertMatch(one, problem, what);
  }
});
