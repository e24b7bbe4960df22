import fc from "fast-check";
import { newCalendar } from "../../src/core/calendar.ts";
import type { RecordFilter } from "../../src/record/filter.ts";
import { parseFilter, parseTime } from "../../src/record/filter_options.ts";
import { openRecordFile, type ScanRequest } from "../../src/record/record_file.ts";
import type { RecordHead } from "../../src/record/record.ts";
import { searchRecords } from "../../src/record/search.ts";
import { comparable, searchedTexts } from "../../src/record/searched_texts.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { allRecords, fileOptions, withFolder, written } from "./support.ts";

async function idsOf(
  scan: (request: ScanRequest) => ReturnType<ReturnType<typeof openRecordFile>["scan"]>,
  filter: RecordFilter,
  limit = 100_000,
  before: number | null = null,
): Promise<string[]> {
  const ids: string[] = [];
  const search = { filter, limit, before, withContent: false };
  for await (const hit of searchRecords(scan, search)) {
    if (hit !== null && "record" in hit) ids.push(hit.record.id);
  }
  return ids;
}

const HEADS: fc.Arbitrary<Partial<RecordHead>> = fc.record({
  key: fc.constantFrom(null, "ada", "bob"),
  route: fc.constantFrom(null, "main", "rest"),
  status: fc.constantFrom(200, 400, 404, 429, 502),
  end: fc.constantFrom("complete", "refused", "client_gone"),
  stream: fc.boolean(),
  model_requested: fc.constantFrom("gpt-4o", "gpt-4o-mini", "claude"),
  redacted: fc.constantFrom({}, { mail: 2 }, { cards: 1, mail: 1 }),
  fallbacks: fc.constantFrom(0, 1),
  cost: fc.constantFrom(null, 0.1, 2),
});

const FILTERS: fc.Arbitrary<RecordFilter> = fc.record({
  key: fc.constantFrom(["ada"], ["ada", "bob"]),
  route: fc.constant(["main"]),
  status: fc.constantFrom(["4xx"], ["200", "502"]),
  end: fc.constant(["refused", "complete"]),
  stream: fc.boolean(),
  model: fc.constantFrom(["gpt-*"], ["claude"]),
  redacted: fc.constantFrom(["mail"], ["cards", "keys"]),
  fallback: fc.constant(true),
  minCost: fc.constantFrom(0.05, 1),
  since: fc.integer({ min: 0, max: 10_000 }),
  until: fc.integer({ min: 0, max: 10_000 }),
}, { requiredKeys: [] });

/** Model of a filter as a plain loop. */
function isMeant(head: RecordHead, at: number, filter: RecordFilter): boolean {
  const models = [head.model_requested ?? "", ...head.attempts.map(({ model }) => model)];
  return (filter.key?.includes(head.key ?? "") ?? true) &&
    (filter.route?.includes(head.route ?? "") ?? true) &&
    (filter.status?.some((one) =>
      one === "4xx" ? Math.floor(head.status / 100) === 4 : Number(one) === head.status
    ) ?? true) &&
    (filter.end?.includes(head.end) ?? true) &&
    (filter.stream === undefined || filter.stream === head.stream) &&
    (filter.model?.some((one) =>
      models.some((name) => one === "gpt-*" ? name.startsWith("gpt-") : name === one)
    ) ?? true) &&
    (filter.redacted?.some((rule) => rule in head.redacted) ?? true) &&
    (filter.fallback === undefined || head.fallbacks > 0) &&
    (filter.minCost === undefined || (head.cost !== null && head.cost >= filter.minCost)) &&
    at >= (filter.since ?? 0) && at <= (filter.until ?? Infinity);
}

Deno.test("a filter finds what a loop over 10,000 exported records finds, the newest first", () =>
  withFolder(async (folder) => {
    const file = openRecordFile(fileOptions(folder));
    const heads = fc.sample(HEADS, { numRuns: 10_000, seed: 5 });
    for (let from = 0; from < heads.length; from += 1_000) {
      file.write(
        heads.slice(from, from + 1_000).map((head, at) =>
          written(`id-${from + at}`, from + at, { head, body: null })
        ),
        heads.length,
      );
    }
    const records = allRecords(file);
    await fc.assert(
      fc.asyncProperty(FILTERS, async (filter) => {
        const expected = records.filter(({ head, at }) => isMeant(head, Date.parse(at), filter));
        assertEquals(await idsOf(file.scan, filter), expected.map(({ id }) => id));
      }),
      { numRuns: 10 },
    );
    file.close();
  }));

Deno.test("a model with many stars takes no longer than the name that a client has sent is long", () =>
  withFolder(async (folder) => {
    const file = openRecordFile(fileOptions(folder));
    file.write([written("a", 0, { head: { model_requested: "a".repeat(1_024) }, body: null })], 0);
    // As a pattern of the runtime this takes longer than anybody waits.
    assertEquals(await idsOf(file.scan, { model: [`${"*a".repeat(40)}*b`] }), []);
    assertEquals(await idsOf(file.scan, { model: [`${"*a".repeat(40)}*`] }), ["a"]);
    file.close();
  }));

Deno.test("a list continues after its last record, and no record is listed twice", () =>
  withFolder(async (folder) => {
    const file = openRecordFile(fileOptions(folder));
    const all = Array.from({ length: 25 }, (_, at) => written(String(at), at, { body: null }));
    file.write(all, 25);
    const found: string[] = [];
    for (let before: number | null = null;;) {
      const ids = await idsOf(file.scan, {}, 10, before);
      found.push(...ids);
      if (ids.length < 10) break;
      // The number of a record is its place, from 1.
      before = Number(ids.at(-1)) + 1;
    }
    file.close();
    assertEquals(found, all.map(({ id }) => id).toReversed());
  }));

Deno.test("a search reads no further than its hits are taken", () =>
  withFolder(async (folder) => {
    const file = openRecordFile(fileOptions(folder));
    const text = "x".repeat(900_000);
    for (let at = 0; at < 8; at++) file.write([written(String(at), at, { body: text })], at);
    let scans = 0;
    const search = { filter: { text: "xx" }, limit: 100, before: null, withContent: false };
    const hits = searchRecords((request) => {
      scans++;
      return file.scan(request);
    }, search);
    await hits.next();
    await hits.return();
    file.close();
    assertEquals(scans, 1);
  }));

Deno.test("a search ends with the oldest record, however much content is before it", async () => {
  const old = { seq: 1, at: 0, keyNumber: null };
  const search = { filter: { text: "x" }, limit: 1, before: null, withContent: false };
  let scans = 0;
  const hits = searchRecords(() => {
    const isLast = ++scans === 10;
    // As many characters as the parts of a search over a large file have.
    const next = isLast ? null : 10 - scans;
    const result = { hits: isLast ? [old] : [], next, closed: 0, chars: 2 ** 30 };
    return result;
  }, search);
  assertEquals(await Array.fromAsync(hits), [old]);
});

const EVENTS = (pieces: readonly string[]) =>
  pieces.map((content) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
  )
    .join("");

Deno.test("a text is found however the events of a stream cut it, and escaped in JSON", () => {
  const words = 'He said "no  way" — über\nall';
  fc.assert(
    fc.property(fc.array(fc.nat({ max: words.length }), { maxLength: 6 }), (cuts) => {
      const places = [0, ...cuts.toSorted((one, other) => one - other), words.length];
      const pieces = places.slice(1).map((end, at) => words.slice(places[at], end));
      const body = { response: { headers: {}, body: null, events: EVENTS(pieces) } };
      const texts = searchedTexts(body, "response").map(comparable);
      assert(texts.some((text) => text.includes(comparable('SAID "no way" — Über all'))));
    }),
  );
  const request = {
    headers: {},
    query: "",
    body: JSON.stringify({ messages: [{ content: JSON.stringify({ command: words }) }] }),
  };
  assert(
    searchedTexts({ request }, "request").map(comparable).some((text) =>
      text === comparable(words)
    ),
  );
});

Deno.test("a text is found that begins with its block", () => {
  const text = (text: string) => ({ type: "text", text });
  const events = [
    { type: "content_block_start", index: 1, content_block: text("permission de") },
    { type: "content_block_delta", index: 1, delta: { ...text("nied"), type: "text_delta" } },
  ].map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
  const body = { response: { headers: {}, body: null, events } };
  assert(searchedTexts(body, "response").includes("permission denied"));
});

Deno.test("the arguments of two tools of one stream are searched apart", () => {
  const chunk = (index: number, piece: string) => {
    const call = { index, function: { arguments: piece } };
    return `data: ${
      JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [call] } }] })
    }\n\n`;
  };
  const events = chunk(0, '{"a":"per') + chunk(1, '{"b":"oth') + chunk(0, 'mission"}') +
    chunk(1, 'er"}');
  const texts = searchedTexts({ response: { headers: {}, body: null, events } }, "response");
  assert(texts.includes("permission") && texts.includes("other"));
});

Deno.test("a text is searched in its parts only, and deep JSON ends no search", () =>
  withFolder(async (folder) => {
    const file = openRecordFile(fileOptions(folder));
    const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
    file.write([
      written("a", 1, { body: '{"q":"permission denied"}', answer: '{"a":"fine"}' }),
      written("b", 2, { body: '{"q":"fine"}', answer: '{"a":"Permission\\u0020Denied"}' }),
      written("c", 3, { body: deep, answer: deep }),
    ], 3);
    const text = "PERMISSION   denied";
    assertEquals(await idsOf(file.scan, { text }), ["b", "a"]);
    assertEquals(await idsOf(file.scan, { text, in: ["request"] }), ["a"]);
    assertEquals(await idsOf(file.scan, { text, in: ["response"], key: ["nobody"] }), []);
    assertEquals(await idsOf(file.scan, { regex: "permission (?:d|x)enied$" }), ["b", "a"]);
    assertEquals(await idsOf(file.scan, { regex: "^denied" }), []);
    file.close();
  }));

Deno.test("the texts of tools are those that their calls and results have, whatever the client API", () => {
  const message = (one: unknown) =>
    JSON.stringify({ messages: [one, { role: "user", content: "x" }] });
  const calls = [{ id: "c", type: "function", function: { name: "f", arguments: '{"a":"word"}' } }];
  const requests = [
    message({ role: "assistant", tool_calls: calls }),
    message({ role: "tool", tool_call_id: "c", content: "word" }),
    message({ role: "user", content: [{ type: "tool_result", content: [{ text: "word" }] }] }),
    message({
      role: "assistant",
      content: [{ type: "tool_use", name: "f", input: { a: "word" } }],
    }),
    JSON.stringify({ input: [{ type: "function_call_output", call_id: "c", output: "word" }] }),
    JSON.stringify({ input: [{ type: "function_call", name: "f", arguments: '{"a":"word"}' }] }),
  ];
  for (const body of requests) {
    const texts = searchedTexts({ request: { headers: {}, query: "", body } }, "tools");
    assert(texts.includes("word") && !texts.includes("x"), body);
  }
  const streams = [
    [
      '{"choices":[{"index":0,"delta":{"content":"x","tool_calls":[{"index":0,"function":{"arguments":"wo"}}]}}]}',
      '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"rd"}}]}}]}',
    ],
    [
      '{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"wo"}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}',
      '{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"rd"}}',
    ],
    [
      '{"type":"response.function_call_arguments.delta","item_id":"a","delta":"wo"}',
      '{"type":"response.output_text.delta","item_id":"b","delta":"x"}',
      '{"type":"response.function_call_arguments.delta","item_id":"a","delta":"rd"}',
    ],
  ];
  for (const events of streams) {
    const text = events.map((one) => `data: ${one}\n\n`).join("");
    const response = { headers: {}, body: null, events: text };
    const texts = searchedTexts({ response }, "tools");
    assert(texts.includes("word") && !texts.includes("x"), text);
    assert(searchedTexts({ response }, "response").includes("x"), text);
  }
  const body =
    '{"choices":[{"message":{"content":"x","tool_calls":[{"function":{"arguments":"word"}}]}}]}';
  const whole = { response: { headers: {}, body, events: null } };
  assertEquals(searchedTexts(whole, "tools"), ["word"]);
});

Deno.test("times are read in the time zone of the file, days, hours and spans", () => {
  const calendar = newCalendar("Europe/Berlin");
  const clock = { wallMs: Date.UTC(2026, 10, 23, 12), calendar };
  const timeOf = (text: string) => {
    const time = parseTime(text, clock);
    return time === null ? null : new Date(time).toISOString();
  };
  assertEquals(timeOf("1h"), "2026-11-23T11:00:00.000Z");
  assertEquals(timeOf("2d"), "2026-11-21T12:00:00.000Z");
  assertEquals(timeOf("2026-11-23"), "2026-11-22T23:00:00.000Z");
  assertEquals(timeOf("2026-11-23T14:05"), "2026-11-23T13:05:00.000Z");
  // The day on which the clocks go back.
  assertEquals(timeOf("2026-10-25T14:00"), "2026-10-25T13:00:00.000Z");
  assertEquals(timeOf("2026-11-23T14:05:00Z"), "2026-11-23T14:05:00.000Z");
  for (
    const text of ["", "yesterday", "2026-13-01", "2026-02-30", "2026-04-31T10:00", "14:00", "1"]
  ) {
    assertEquals(timeOf(text), null);
  }
});

Deno.test("a wrong option is named with what it must be", () => {
  const clock = { wallMs: 0, calendar: newCalendar("UTC") };
  const wrong: readonly (readonly [string, string])[] = [
    ["since", "soon"],
    ["min-ms", "-1"],
    ["label", "blue"],
    ["status", "400,abc"],
    ["text", "  "],
    ["in", "headers"],
    ["regex", "(a"],
    ["regex", "(?=a)"],
    ["regex", ""],
    ["regex", ".{500}.{500}"],
    ["stream", "false"],
  ];
  for (const [name, value] of wrong) {
    const parsed = parseFilter((one) => one === name ? value : undefined, clock);
    assertEquals(parsed.ok ? "" : String(parsed.option), name);
  }
});
