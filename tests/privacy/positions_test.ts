import fc from "fast-check";
import { newPrivacyCounts } from "../../src/core/privacy_counts.ts";
import { newRuleText } from "../../src/privacy/answer_text.ts";
import { finishDocument } from "../../src/privacy/finish.ts";
import { NO_PACE } from "../../src/privacy/pace.ts";
import { replaceJson } from "../../src/privacy/replace_json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answerOf, anySizes, anyWords, CORES, cut, type Word } from "./answer_cases.ts";
import { callWith, rulesOf } from "./rules.ts";
import { DONE, eventOf, joined, PLAIN, run } from "./stream_cases.ts";

/** Words with a cited range: the words from `first` to before `last`. */
interface Cited {
  readonly words: readonly Word[];
  readonly first: number;
  readonly last: number;
}

const anyCited: fc.Arbitrary<Cited> = fc.tuple(anyWords, fc.nat(12), fc.nat(12))
  .map(([words, a, b]) => {
    const [first = 0, last = 0] = [a, b].map((at) => Math.min(at, words.length)).sort((x, y) =>
      x - y
    );
    return { words, first, last };
  });

const sentOf = (words: readonly Word[]) => words.map(({ sent }) => sent).join("");
const receivedOf = (words: readonly Word[]) => words.map(({ received }) => received).join("");

/** Length in characters as services count them. */
const chars = (text: string) => [...text].length;

/** Returns the positions of the cited words in the text of the provider. */
function placed({ words, first, last }: Cited) {
  return {
    start_index: chars(sentOf(words.slice(0, first))),
    end_index: chars(sentOf(words.slice(0, last))),
  };
}

/** Returns the words that an annotation cites in the text of the client. */
function citedIn(text: string, { start_index, end_index }: ReturnType<typeof placed>): string {
  return [...text].slice(start_index, end_index).join("");
}

const expectedOf = ({ words, first, last }: Cited) => receivedOf(words.slice(first, last));

Deno.test("a citation of a whole answer cites the same words, before its text and behind it", () => {
  fc.assert(
    fc.property(anyCited, (cited) => {
      const text = sentOf(cited.words);
      const annotations = [{ type: "url_citation", ...placed(cited), url: "https://x.test" }];
      const parts = [
        { type: "output_text", text, annotations },
        { annotations, type: "output_text", text },
      ];
      const message = {
        annotations: [{ type: "url_citation", url_citation: placed(cited) }],
        content: text,
      };
      const sent = { output: [{ content: parts }], choices: [{ index: 0, message }] };
      const finished = JSON.parse(finishDocument(answerOf().answer, JSON.stringify(sent), PLAIN));
      for (const part of finished.output[0].content) {
        assertEquals(citedIn(part.text, part.annotations[0]), expectedOf(cited));
      }
      const { content, annotations: [one] } = finished.choices[0].message;
      assertEquals(citedIn(content, one.url_citation), expectedOf(cited));
    }),
    { numRuns: 100 },
  );
});

Deno.test("a citation in a Responses stream that is cut anywhere cites the same words, in its event and in the done ones", () => {
  fc.assert(
    fc.property(anyCited, anyWords, anySizes, (cited, more, sizes) => {
      const at = { output_index: 0, content_index: 0, item_id: "msg_1" };
      const annotation = { type: "url_citation", ...placed(cited) };
      const delta = (piece: string) =>
        eventOf({ type: "response.output_text.delta", ...at, delta: piece });
      const text = sentOf(cited.words) + "." + sentOf(more);
      const part = { type: "output_text", text, annotations: [annotation] };
      const sent = [
        ...cut(`${sentOf(cited.words)}.`, sizes).map(delta),
        eventOf({ type: "response.output_text.annotation.added", ...at, annotation }),
        ...cut(sentOf(more), sizes).map(delta),
        eventOf({ type: "response.output_text.done", ...at, text }),
        eventOf({ type: "response.content_part.done", ...at, part }),
        eventOf({ type: "response.completed", response: { output: [{ content: [part] }] } }),
      ];
      const { records } = run(answerOf().answer, sent);
      assertEquals(records.length, sent.length);
      const values = records.map(({ data }) => JSON.parse(data));
      const whole = joined(records, function* (value) {
        if (value.type === "response.output_text.delta") yield ["text", value.delta];
      }).text ?? "";
      const found = [
        values.find(({ type }) => type.endsWith("annotation.added")).annotation,
        values.at(-2).part.annotations[0],
        values.at(-1).response.output[0].content[0].annotations[0],
      ];
      for (const one of found) assertEquals(citedIn(whole, one), expectedOf(cited));
    }),
    { numRuns: 100 },
  );
});

Deno.test("citations in a Chat stream that is cut anywhere cite the same words of each choice", () => {
  fc.assert(
    fc.property(anyCited, anyCited, anySizes, (one, other, sizes) => {
      const chunk = (index: number, delta: object) =>
        eventOf({ choices: [{ index, delta, finish_reason: null }] });
      const choice = (cited: Cited, index: number) => [
        ...cut(`${sentOf(cited.words)}.`, sizes).map((content) => chunk(index, { content })),
        chunk(index, { annotations: [{ type: "url_citation", url_citation: placed(cited) }] }),
      ];
      const { records } = run(answerOf().answer, [...choice(one, 0), ...choice(other, 1), DONE]);
      const texts = joined(records, function* (value) {
        const { index, delta } = value.choices[0];
        if (delta.content !== undefined) yield [String(index), delta.content];
      });
      const citations = records.filter(({ data }) => data.includes("url_citation"));
      for (const [index, cited] of [one, other].entries()) {
        const { delta } = JSON.parse(citations[index]?.data ?? "").choices[0];
        assertEquals(
          citedIn(texts[String(index)] ?? "", delta.annotations[0].url_citation),
          expectedOf(cited),
        );
      }
    }),
    { numRuns: 100 },
  );
});

Deno.test("positions behind 300 KiB of text without a token are those of the restored text", () => {
  const at = { output_index: 0, content_index: 0 };
  const delta = (piece: string) =>
    eventOf({ type: "response.output_text.delta", ...at, delta: piece });
  const words = "all is well 😀 and so on, ".repeat(20);
  const token = `${CORES.mail}email`;
  const sent = [
    delta(`${token} `),
    ...Array.from({ length: 700 }, () => delta(words)),
    delta("END"),
  ];
  const start_index = chars(token) + 1 + 700 * chars(words);
  const annotation = { type: "url_citation", start_index, end_index: start_index + 3 };
  const { records } = run(answerOf().answer, [
    ...sent,
    eventOf({ type: "response.output_text.annotation.added", ...at, annotation }),
  ]);
  const text = records.slice(0, -1).map(({ data }) => JSON.parse(data).delta).join("");
  assertEquals(citedIn(text, JSON.parse(records.at(-1)?.data ?? "").annotation), "END");
});

Deno.test("positions fit a text in which a rule has masked values", () => {
  const rules = rulesOf("find: [email], phase: response, action: mask");
  const text = "Ask jane.doe@example.com or eve@example.org: both know it.";
  const start_index = text.indexOf("both");
  const annotation = {
    type: "file_citation",
    index: start_index,
    start_index,
    end_index: start_index + 4,
  };
  const part = { type: "output_text", annotations: [annotation], text };
  const finished = finishDocument(
    newRuleText(rules, newPrivacyCounts()),
    JSON.stringify(part),
    PLAIN,
  );
  const { text: masked, annotations: [one] } = JSON.parse(finished);
  assertEquals(masked, "Ask [email] or [email]: both know it.");
  assertEquals([citedIn(masked, one), one.index], ["both", masked.indexOf("both")]);
});

Deno.test("numbers of other members, and positions of an answer without a token stay", () => {
  const token = `${CORES.mail}email`;
  const part = {
    text: `${token} x`,
    index: 30,
    start_index: 30,
    annotations: [{ start_index: -1, end_index: 2.5, index: "30", bytes: 30 }],
  };
  const finished = finishDocument(answerOf().answer, JSON.stringify(part), PLAIN);
  assertEquals({ ...JSON.parse(finished), text: part.text }, part);
  const plain = JSON.stringify({ text: "x", annotations: [{ start_index: 1e3 }] }).replace(
    "1000",
    "1e3",
  );
  assertEquals(finishDocument(answerOf().answer, plain, PLAIN), plain);
});

Deno.test("positions in the arguments of a tool are not those of an answer", () => {
  const input = {
    text: `${CORES.mail}email is here`,
    annotations: [{ start_index: 24 }],
    citations: [{ document_index: 0, start_char_index: 40 }],
  };
  const form = {
    ...PLAIN,
    documents: new Map([[0, [{ start: 0, end: 9, newStart: 0, newEnd: 1 }]]]),
  };
  const text = JSON.stringify({ content: [{ type: "tool_use", id: "t", name: "n", input }] });
  const finished = JSON.parse(finishDocument(answerOf().answer, text, form)).content[0].input;
  assertEquals(finished, { ...input, text: "bob.miller@example.com is here" });
});

Deno.test("a position within a token is one within its value", () => {
  const token = `${CORES.mail}email`;
  const annotations = [{ start_index: 5, end_index: token.length - 1 }];
  const text = JSON.stringify({ text: token, annotations });
  assertEquals(JSON.parse(finishDocument(answerOf().answer, text, PLAIN)).annotations, [
    { start_index: 0, end_index: "bob.miller@example.com".length - 1 },
  ]);
});

Deno.test("a citation of a document cites the text that the client has sent, whole and in a stream", async () => {
  const privacy = callWith("find: [email], action: replace", "find: [card], action: mask");
  const data = "😀 bob.miller@example.com, 4111 1111 1111 1111 and ada@example.org are known.";
  const document = (type: string, text: string) => ({
    type: "document",
    source: { type, media_type: "text/plain", data: text },
  });
  const request = {
    messages: [
      { role: "user", content: [document("text", "no value"), document("base64", "AAAA")] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t", content: [document("text", data)] },
          { type: "text", text: "eve@example.org" },
        ],
      },
    ],
  };
  const scopes = { client: "c", conversation: "d" };
  const sent = await replaceJson(privacy, JSON.stringify(request), request, {
    pace: NO_PACE,
    scopes,
  });
  assert(sent.ok);
  const received = JSON.parse(sent.value).messages[1].content[0].content[0].source.data;
  assert(!received.includes("ada@") && received.includes("[card]"), received);
  const before = received.slice(0, received.indexOf("are known"));
  const start_char_index = chars(before);
  const citation = {
    type: "char_location",
    cited_text: "are known",
    document_index: 2,
    start_char_index,
    end_char_index: start_char_index + "are known".length,
  };
  const found = [
    JSON.parse(
      finishDocument(
        answerOf([]).answer,
        JSON.stringify({ citations: [citation] }),
        privacy.answer,
      ),
    ).citations[0],
    JSON.parse(
      run(
        answerOf([]).answer,
        [eventOf({
          type: "content_block_delta",
          index: 0,
          delta: { type: "citations_delta", citation },
        })],
        privacy.answer,
      ).records[0]?.data ?? "",
    ).delta.citation,
  ];
  for (const one of found) {
    assertEquals([...data].slice(one.start_char_index, one.end_char_index).join(""), "are known");
  }
  // Rules search the answer before: they move nothing in documents.
  const rules = newRuleText(
    rulesOf("words: [x], phase: response, action: mask"),
    newPrivacyCounts(),
  );
  const cited = JSON.stringify({ citations: [citation] });
  assertEquals(finishDocument(rules, cited, privacy.answer), cited);
  const event = eventOf({ type: "content_block_delta", index: 0, delta: { citation } });
  assertEquals(run(rules, [event], privacy.answer).records, [event]);
  const other = { citations: [{ ...citation, document_index: 0 }] };
  const text = JSON.stringify(other);
  assertEquals(finishDocument(answerOf([]).answer, text, privacy.answer), text);
});
