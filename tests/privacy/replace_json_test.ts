import fc from "fast-check";
import { sealThinking } from "../../src/api/reasoning/sealed_thinking.ts";
import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { sealedText } from "../../src/core/stream/sealed_text.ts";
import { NO_PACE } from "../../src/privacy/pace.ts";
import { replaceJson } from "../../src/privacy/replace_json.ts";
import { restoreJson, restoreObject } from "../../src/privacy/restore_json.ts";
import type { CallPrivacy } from "../../src/privacy/types.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { callWith, rulesOf } from "./rules.ts";

const SCOPES = { client: "c", conversation: "v" };

async function replaced(privacy: CallPrivacy, text: string, masks = false): Promise<string> {
  const value: unknown = JSON.parse(text);
  assert(isObject(value));
  const result = await replaceJson(privacy, text, value, { pace: NO_PACE, scopes: SCOPES, masks });
  return result.ok
    ? result.value
    : `${result.failure.kind} ${"at" in result.failure ? result.failure.at : ""}`;
}

function of(value: JsonObject, ...rules: readonly string[]): Promise<string> {
  return replaced(callWith(...rules), JSON.stringify(value));
}

const MAIL = "find: [email], action: replace";

Deno.test("only the literals with a match differ, and only where the match is", async () => {
  const text =
    '{ "a" : [ 1.0, "x\\u0040y.com \\n\\"ok\\" \\u00e9" , "no" ],\n "b":{"c":"é bob@example.com!"} }';
  const privacy = callWith(MAIL);
  const sent = await replaced(privacy, text);
  assertMatch(
    sent,
    /^\{ "a" : \[ 1\.0, "qz\w+email \\n\\"ok\\" \\u00e9" , "no" \],\n "b":\{"c":"é qz\w+email!"\} \}$/,
  );
  assertEquals(restoreJson(sent, privacy.tokens), text.replace("\\u0040", "@"));
});

Deno.test("values side by side come back, each from its token", async () => {
  const privacy = callWith("pattern: '[0-9]{4}', action: replace");
  const text = '{"a":"12345678"}';
  const sent = await replaced(privacy, text);
  assertMatch(sent, /^\{"a":"(qz[a-z]+){2}"\}$/);
  assertEquals(restoreJson(sent, privacy.tokens), text);
});

Deno.test("without a match a text stays itself", async () => {
  const text = '{"a": "no value", "n": 1e400}';
  assertEquals(await replaced(callWith(MAIL), text), text);
});

Deno.test("what the gateway has sealed is searched like what is not, unless a provider has signed it", async () => {
  const text = "a key:\nAKIAIOSFODNN7EXAMPLE";
  const requestOf = (blocks: readonly JsonObject[]): JsonObject => ({
    input: [{ type: "reasoning", encrypted_content: sealThinking(blocks) }],
  });
  const plain = requestOf([{ type: "reasoning_text", text }, {
    type: "reasoning_text",
    text: "b",
  }]);
  const signed = requestOf([{ type: "thinking", thinking: text, signature: "c2ln" }]);
  const KEY = "find: [aws_key], action";
  const sent = JSON.parse(await of(plain, `${KEY}: mask`));
  assertEquals(
    sealedText(sent.input[0].encrypted_content),
    '[{"type":"reasoning_text","text":"a key:\\n[awskey]"},{"type":"reasoning_text","text":"b"}]',
  );
  assertEquals(
    await of(plain, `${KEY}: refuse`),
    "privacy_rule_matched input[0].encrypted_content",
  );
  assertEquals(await of(signed, `${KEY}: refuse`), JSON.stringify(signed));
  for (const blocks of [[{ text: text.repeat(40_000) }], Array(3_000).fill({ text })]) {
    const large = requestOf(blocks);
    const privacy = callWith(`${KEY}: mask`);
    const text = JSON.stringify(large);
    assertEquals([await replaced(privacy, text), privacy.counts.unread], [text, 1]);
  }
});

Deno.test("searching what was replaced changes nothing", async () => {
  const privacy = callWith(MAIL, "words: [email, blue], action: mask");
  const once = await replaced(privacy, '{"a":"bob@x.com@y.com, blue, email"}');
  assertEquals(await replaced(privacy, once), once);
});

Deno.test("values at any path never reach a provider, or the request is refused", async () => {
  const key = "AKIAIOSFODNN7EXAMPLE";
  const rules = ["find: [email, card, aws_key], action: replace"];
  const value = fc.constantFrom("bob@example.com", "4111 1111 1111 1111", key, 4111111111111111);
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      value,
      value.map((one) => `${one}`),
      fc.string().map((noise) => `${noise} ${key} ${noise}`),
      fc.boolean(),
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.string(), value.map(String)), tie("tree"), { maxKeys: 4 }),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(tree, async (planted) => {
      const sent = await of({ member: JSON.parse(JSON.stringify(planted)) }, ...rules);
      for (const one of ["bob@example.com", "4111 1111 1111 1111", key, "4111111111111111"]) {
        assert(!sent.includes(one), sent);
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("a refused value names its path and its rule, and is looked for before names", async () => {
  const value = { metadata: { "a@x.com": "1" }, messages: [{ content: "see B-123456" }] };
  assertEquals(
    await of(value, MAIL, "pattern: 'B-[0-9]{6}', action: refuse"),
    "privacy_rule_matched messages[0].content",
  );
});

Deno.test("a value in a name of a member or a tool, or in a number is refused without it", async () => {
  assertEquals(await of({ part_ids: ["a@x.com"] }, MAIL), "privacy_unreplaceable part_ids[0]");
  assertEquals(await of({ metadata: { "a@x.com": 1 } }, MAIL), "privacy_unreplaceable metadata.*");
  assertEquals(
    await of({ "a@x.com": { b: "c@x.com" } }, MAIL),
    "privacy_unreplaceable *",
  );
  assertEquals(
    await of({ tools: [{ function: { name: "a@x.com" } }] }, MAIL),
    "privacy_unreplaceable tools[0].function.name",
  );
  assertEquals(
    await of({ x: [{ n: 4111111111111111 }] }, "find: [card], action: mask"),
    "privacy_unreplaceable x[0].n",
  );
});

Deno.test("the digits of an identifier that a provider has made refuse no request", async () => {
  const requestOf = (id: string) => ({
    messages: [
      { role: "assistant", tool_calls: [{ id, type: "function", function: { name: "f" } }] },
      { role: "tool", tool_call_id: id, content: "ok" },
    ],
  });
  const CARD = "find: [card, email], action: mask";
  for (
    const id of [
      "function-call-4111111111111111",
      "call_-41111111",
      "52835887-5335-4225-8abc-0123456789ab",
    ]
  ) {
    assertEquals(await of(requestOf(id), CARD), JSON.stringify(requestOf(id)));
  }
  for (const id of ["4111111111111111", "4111 1111 1111 1111", "call_bob@example.com"]) {
    assertEquals(
      await of(requestOf(id), CARD),
      "privacy_unreplaceable messages[0].tool_calls[0].id",
    );
  }
});

Deno.test("32 hexadecimal digits of an identifier that a provider or the gateway has made refuse no request", async () => {
  const digits = "01a2282e93397912345678b257ae2200";
  const request = {
    previous_response_id: `resp_${digits}`,
    conversation: `conv_${digits}`,
    container: `cntr_${digits}68`,
    input: [{ type: "function_call", id: `fc_${digits}`, call_id: `call_${digits}` }],
  };
  const STAFF = "pattern: '[0-9]{6}', action: replace";
  assertEquals(await of(request, STAFF), JSON.stringify(request));
  for (const conversation of [digits, `conv_${digits.slice(1)}`]) {
    assertEquals(await of({ conversation }, STAFF), "privacy_unreplaceable conversation");
  }
});

Deno.test("a number is searched as its digits, also with a point or an exponent", async () => {
  const rule = "find: [card], action: mask";
  for (
    const written of [
      "4111111111111111.0",
      "4.111111111111111e15",
      "41111111111111110E-1",
      "41111111.11111111e8",
      // Doubles have fewer digits.
      "4000000000000000006.0",
      "-4.000000000000000006e+18",
    ]
  ) {
    const text = `{"x":${written}}`;
    assertEquals(await replaced(callWith(rule), text), "privacy_unreplaceable x", written);
  }
  for (
    const written of ["0.4111111111111111", "41111111.11111111e7", "4111111111111111e999999999"]
  ) {
    const text = `{"x":${written}}`;
    assertEquals(await replaced(callWith(rule), text), text);
  }
});

Deno.test("a character that separates strings in a search hides no value of a string that has it", async () => {
  const rule = "pattern: 'B-[0-9]{6}', contains: [badge], action: mask";
  assertEquals(
    await of({ a: "badge\0 B-123456", b: "badge", c: "B-123456" }, rule),
    '{"a":"badge\\u0000 [value]","b":"badge","c":"B-123456"}',
  );
});

Deno.test("reasoning that the gateway has sealed stays as it is, whatever its letters seem to be", async () => {
  const sealed = (end: string) => `switchyard1.0123456789abcdef.${"Ab".repeat(40)}-${end}`;
  const rules = ["find: [email], action: replace", "pattern: '[0-9]{6}', action: replace"];
  const request = (end: string) => ({
    input: [{ type: "reasoning", encrypted_content: sealed(end) }],
    messages: [{ content: [{ type: "thinking", thinking: "Hm", signature: sealed(end) }] }],
  });
  assertEquals(await of(request("123456-"), ...rules), JSON.stringify(request("123456-")));
  assertEquals(
    await of(request("123456 bob@example.com"), ...rules),
    "privacy_unreplaceable input[0].encrypted_content",
  );
  const thinking = { thinking: "bob@example.com", signature: sealed("") };
  const sent = await of({ messages: [{ content: [{ type: "thinking", ...thinking }] }] }, ...rules);
  assert(!sent.includes("bob"), sent);
});

Deno.test("what providers have signed or encrypted stays, and images of documents and fetched pages are not read", async () => {
  const data = `${"Ab12".repeat(20)}123456`;
  const google = { extra_content: { google: { thought_signature: data } } };
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
  const blocks = [
    { type: "text", text: "Hm", citations: [{ encrypted_index: data }] },
    { type: "web_fetch_tool_result", content: { type: "web_fetch_result", content: image } },
    { type: "document", source: { type: "content", content: [image] } },
  ];
  const value = { messages: [{ content: blocks, tool_calls: [google], ...google }] };
  const privacy = callWith("pattern: '[0-9]{6}', action: replace");
  assertEquals(await replaced(privacy, JSON.stringify(value)), JSON.stringify(value));
  assertEquals(privacy.counts.unread, 2);
});

Deno.test("tags of the protocols are no values of words", async () => {
  const value = { messages: [{ role: "user", content: [{ type: "text", text: "text user" }] }] };
  assertEquals(
    await of(value, "words: [user, text], label: word, action: mask"),
    '{"messages":[{"role":"user","content":[{"type":"text","text":"[word] [word]"}]}]}',
  );
});

Deno.test("a mask shows its label, and where a token would be drawn values are masked", async () => {
  const text = '{"prompt":"for a@x.com"}';
  assertEquals(
    await of(JSON.parse(text), "find: [email], action: mask"),
    '{"prompt":"for [email]"}',
  );
  const privacy = callWith("find: [email], label: mail, action: replace");
  assertEquals(await replaced(privacy, text, true), '{"prompt":"for [mail]"}');
  assertEquals(privacy.tokens.size, 0);
});

Deno.test("a rule that only counts changes nothing and hides no value", async () => {
  const privacy = callWith("pattern: 'my.+', max_length: 99, action: monitor", MAIL);
  const sent = await replaced(privacy, '{"a":"my a@x.com"}');
  assertMatch(sent, /^\{"a":"my qz\w+email"\}$/);
  assertEquals(privacy.counts.matches.map(({ rule, count }) => `${rule}:${count}`), [
    "r0:1",
    "r1:1",
  ]);
});

Deno.test("a value of instructions has one token in all conversations, also in user text", async () => {
  async function sent(conversation: string, text: string) {
    const value = JSON.parse(text);
    const options = { pace: NO_PACE, scopes: { client: "c", conversation } };
    const result = await replaceJson(callWith(MAIL), text, value, options);
    return result.ok ? [...result.value.matchAll(/qz\w+email/g)].map(String) : [];
  }
  const text = '{"messages":[{"role":"user","content":"a@x.com b@x.com"},' +
    '{"role":"system","content":"b@x.com"}],"tools":[{"d":"c@x.com"}]}';
  const [own, shared, system, tool] = await sent("1", text);
  const [other, alsoShared, ...rest] = await sent("2", text);
  assertEquals([shared, [system, tool]], [system, rest]);
  assertEquals(alsoShared, shared);
  assert(own !== other);
});

Deno.test("arguments of a tool stay JSON where a value seems to begin with the letter of an escape", async () => {
  for (const text of ["A\fbob@example.com", "A\bbob@example.com", "a\nova"]) {
    const privacy = callWith(MAIL, "words: [nova], action: replace");
    const call = { id: "c", function: { name: "f", arguments: JSON.stringify({ text }) } };
    const request = JSON.stringify({ messages: [{ role: "assistant", tool_calls: [call] }] });
    const sent = await replaced(privacy, request);
    const [message] = JSON.parse(sent).messages;
    const written = JSON.parse(message.tool_calls[0].function.arguments);
    assertMatch(written.text, /^[Aa][\f\b\n]qz\w+$/);
    assertEquals(restoreJson(sent, privacy.tokens), request);
  }
});

Deno.test("arguments of a tool stay JSON where a match of a pattern begins or ends within an escape", async () => {
  const cases = [
    ["[0-9]{6}", String.raw`2019\u2013201924`, /^2019\u2013qz[a-z]+$/],
    ["[0-9]{6}", String.raw`2019\u201324`, /^2019\u201324$/],
    ["B-.{3}", String.raw`B-12\u20134`, /^qz\w+4$/],
    ["B-.{3}", String.raw`B-12\n4`, /^qz\w+4$/],
    [String.raw`\\[a-z]+`, String.raw`srv\\mail`, /^srvqz\w+$/],
  ] as const;
  for (const [pattern, text, expected] of cases) {
    const privacy = callWith(`pattern: '${pattern}', action: replace`);
    const call = { id: "c", function: { name: "f", arguments: `{"text":"${text}"}` } };
    const request = JSON.stringify({ messages: [{ role: "assistant", tool_calls: [call] }] });
    const sent = await replaced(privacy, request);
    const [message] = JSON.parse(sent).messages;
    assertMatch(JSON.parse(message.tool_calls[0].function.arguments).text, expected);
    const back = JSON.parse(restoreJson(sent, privacy.tokens)).messages[0].tool_calls[0];
    assertEquals(JSON.parse(back.function.arguments), JSON.parse(call.function.arguments));
  }
});

Deno.test("arguments of a tool stay JSON where a pattern matches over the end of a text, of which each is a value", async () => {
  const cases = [
    ['{"cmd":"use pass=hunter2","in":5,"dry":true}', '{"cmd":"use T","T":5,"T":true}'],
    ['{"cmd": "pass=hunter2", "in": 5}', '{"cmd": "T", "in": 5}'],
    [String.raw`["pass=hunter2\\","a\"b"]`, '["T","T"]'],
    ['{"a":{"pass=hunter2":"b"}}', '{"a":{"T":"T"}}'],
    // A number that may be a value does not stay.
    ['{"cmd":"pass=hunter2","in":123456789}', '{"cmd":"T'],
  ] as const;
  for (const [args, expected] of cases) {
    const privacy = callWith(String.raw`pattern: 'pass=\S+', action: replace`);
    const call = { id: "c", function: { name: "f", arguments: args } };
    const request = JSON.stringify({ messages: [{ tool_calls: [call] }] });
    const sent = await replaced(privacy, request);
    const written: string = JSON.parse(sent).messages[0].tool_calls[0].function.arguments;
    assertEquals(written.replaceAll(/qz\w+/g, "T"), expected);
    assertEquals(privacy.counts.matches.map(({ count }) => count), [1]);
    if (!expected.endsWith("T")) assertEquals(restoreJson(sent, privacy.tokens), request);
  }
});

Deno.test("arguments of a tool stay JSON where the longest match of a pattern ends in a number, or begins behind others", async () => {
  const cases = [
    [{ cmd: `pass=${"x".repeat(50)}`, n: 12345 }, '{"cmd":"T","T":12345}'],
    [{ cmd: `pass=${"x".repeat(50)}`, n: 123456789 }, '{"cmd":"T}'],
    [["Z".repeat(88), 5, "b"], '["T",5,"T"]'],
  ] as const;
  for (const [args, expected] of cases) {
    const privacy = callWith(
      String.raw`pattern: 'pass=\S+', action: replace`,
      String.raw`pattern: 'Z\S{2,}', max_length: 20, action: replace`,
    );
    const call = { id: "c", function: { name: "f", arguments: JSON.stringify(args) } };
    const request = JSON.stringify({ messages: [{ tool_calls: [call] }] });
    const sent = await replaced(privacy, request);
    const written: string = JSON.parse(sent).messages[0].tool_calls[0].function.arguments;
    assertEquals(written.replaceAll(/qz\w+/g, "T"), expected);
    if (!expected.endsWith("T}")) assertEquals(restoreJson(sent, privacy.tokens), request);
  }
});

Deno.test("a value that is escaped in JSON inside a text has the token that it has in a text, and comes back", async () => {
  const rules = [
    "words: ['Blue \"Falcon\"', 'two lines'], action: replace",
    String.raw`pattern: 'CORP\\\w+', action: replace`,
  ];
  for (const value of ['Blue "Falcon"', String.raw`CORP\bob`, "two\nlines", String.raw`CORP\new`]) {
    const told = JSON.stringify({
      to: `see ${value}\n!`,
      [`for ${value}`]: [1, value],
      "\\": "\n",
    });
    const request = JSON.stringify({
      messages: [
        { role: "user", content: value },
        { role: "assistant", tool_calls: [{ function: { name: "f", arguments: told } }] },
        { role: "tool", content: ` ${told}` },
        { role: "assistant", content: `[${told}]` },
      ],
    });
    const privacy = callWith(...rules);
    const sent = await replaced(privacy, request);
    const { messages } = JSON.parse(sent);
    const token = messages[0].content;
    assertMatch(token, /^qz\w+$/);
    const expected = JSON.parse(told.replaceAll(JSON.stringify(value).slice(1, -1), () => token));
    assertEquals(JSON.parse(messages[1].tool_calls[0].function.arguments), expected);
    assertEquals(JSON.parse(messages[2].content), expected);
    assertEquals(JSON.parse(messages[3].content), [expected]);
    assertEquals(privacy.counts.matches.map(({ count }) => count), [10]);
    assertEquals(restoreJson(sent, privacy.tokens), request);
  }
});

Deno.test("arguments of a tool with other escapes than JSON has, or that are cut in one, are searched without them too", async () => {
  const value = 'Blue "Falcon"';
  const rule = "words: ['Blue \"Falcon\"'], action: replace";
  for (
    const [before, after] of [
      [String.raw`{"re":"\d \u12 \\ \u00e9 \'","to":"`, '"}'],
      ['{"to":"', "\\"],
      ['{"to":"', String.raw` \u00`],
    ] as const
  ) {
    const text = `${before}${JSON.stringify(value).slice(1, -1)} .${after}`;
    const sent = await of({ a: value, b: [{ arguments: text }, text] }, rule);
    const { a, b: [call, other] } = JSON.parse(sent);
    assertMatch(a, /^qz\w+$/);
    assertEquals(call.arguments, `${before}${a} .${after}`);
    // Any other text is no JSON.
    assertEquals(other, text);
  }
});

Deno.test("a text that is JSON with any blanks around it is searched without its escapes", async () => {
  const blanks = " \n".repeat(64);
  const sent = await of(
    { a: `${blanks}{"a":"Blue \\"Falcon\\""}${blanks}` },
    "words: ['Blue \"Falcon\"'], action: mask",
  );
  assertEquals(JSON.parse(sent).a, `${blanks}{"a":"[value]"}${blanks}`);
});

Deno.test("a member of what a tool gets that is called arguments is a text like others, and comes back", async () => {
  const value = String.raw`CORP\bob`;
  const input = { arguments: `run ${value}`, more: [{ arguments: value }] };
  const request = JSON.stringify({
    metadata: { arguments: value },
    prompt: { variables: { arguments: value } },
    messages: [
      { role: "user", content: value },
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input }] },
    ],
  });
  const privacy = callWith(String.raw`pattern: 'CORP\\\w+', action: replace`);
  const sent = await replaced(privacy, request);
  assertEquals(new Set(sent.match(/qz[a-z]{16}/g)).size, 1, sent);
  assertEquals(restoreJson(sent, privacy.tokens), request);
});

Deno.test("very many strings with a value are edited in pieces", async () => {
  const value = { input: Array<string>(2_000).fill("bob@example.com") };
  let pieces = 0;
  const pace = { ...NO_PACE, next: () => (pieces++, null) };
  const privacy = callWith("find: [email], action: mask");
  await replaceJson(privacy, JSON.stringify(value), value, { pace, scopes: SCOPES });
  assert(pieces > 2_000);
});

Deno.test("any text that is JSON in any strings has the same tokens as its values, and comes back", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.string({
          unit: fc.constantFrom('"', "\\", "\n", "n", "u", "é", "\t", " ", "{", ",", ":"),
        }),
      ),
      fc.nat(),
      async (pieces, at) => {
        const value = String.raw`K\-"9"`;
        const texts = pieces.toSpliced(
          at % (pieces.length + 1),
          0,
          `${pieces[0] ?? ""} ${value} .`,
        );
        const told = JSON.stringify({ list: texts, [texts.join("")]: null });
        const request = JSON.stringify({ messages: [{ content: value }, { content: told }] });
        const privacy = callWith(`pattern: 'K\\\\-"9"', action: replace`);
        const sent = await replaced(privacy, request);
        assertEquals(restoreJson(sent, privacy.tokens).includes(JSON.stringify(value)), true);
        const { messages } = JSON.parse(sent);
        const expected = JSON.parse(
          told.replaceAll(JSON.stringify(value).slice(1, -1), () => messages[0].content),
        );
        assertEquals(JSON.parse(messages[1].content), expected);
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("a value that is escaped in JSON where no token can be refuses the request", async () => {
  const result = JSON.stringify({ name: 'Blue "Falcon"' });
  assertEquals(
    await of({ input: [{ result }] }, "words: ['Blue \"Falcon\"'], action: replace"),
    "privacy_unreplaceable input[0].result",
  );
});

Deno.test("values of JSON that are found with and without its escapes come back as they were written", async () => {
  // The first pattern is meant for JSON and has no match without its escapes.
  const rules = [
    String.raw`pattern: 'C:\\\\\w+', action: replace`,
    String.raw`words: ['Blue "Falcon"'], action: replace`,
  ];
  const content = JSON.stringify({ path: "C:\\bob", name: 'Blue "Falcon"' });
  const request = JSON.stringify({ messages: [{ role: "tool", content }] });
  const privacy = callWith(...rules);
  const sent = await replaced(privacy, request);
  assertMatch(sent, /"\{\\"path\\":\\"qz\w+\\",\\"name\\":\\"qz\w+\\"\}"/);
  assertEquals(restoreJson(sent, privacy.tokens, privacy.answer), request);
});

Deno.test("a long item of a request gets its values back in pieces, whose number grows with it", async () => {
  async function piecesOf(parts: number): Promise<number> {
    const words = `"a@x.com" ${"x ".repeat(20_000)}`;
    const content = Array.from({ length: parts }, () => ({ type: "input_text", text: words }));
    const item = { role: "user", content, arguments: JSON.stringify([words.repeat(parts)]) };
    const privacy = callWith(MAIL);
    const { input } = JSON.parse(await replaced(privacy, JSON.stringify({ input: [item] })));
    const work = restoreObject(input[0], privacy.tokens, privacy.answer);
    for (let pieces = 1;; pieces++) {
      const step = work.next();
      if (step.done !== true) continue;
      assertEquals(step.value, item);
      return pieces;
    }
  }
  const few = await piecesOf(4);
  const many = await piecesOf(16);
  assert(few >= 30 && many >= 3 * few, `${few} ${many}`);
});

Deno.test("a value that is escaped in JSON inside a text is masked, and refused where it is", async () => {
  const told = JSON.stringify({ note: 'for Blue "Falcon"' });
  const rule = "words: ['Blue \"Falcon\"'], action:";
  assertEquals(
    await of({ a: [told] }, `${rule} mask`),
    JSON.stringify({ a: ['{"note":"for [value]"}'] }),
  );
  assertEquals(await of({ a: [told] }, `${rule} refuse`), "privacy_rule_matched a[0]");
  assertEquals(await of({ a: [told] }, `${rule} monitor`), JSON.stringify({ a: [told] }));
});

Deno.test("a number in arguments of a tool is replaced where a pattern has no match without it", async () => {
  const cases: readonly (readonly [pattern: string, args: string])[] = [
    [String.raw`pin\W+\d{4}`, '{"pin":1234,"in":5}'],
    [String.raw`"pin":\s*\d{4}\D`, '{"in":5, "pin": 1234}'],
    [String.raw`pin\W+\d{4}\D`, '{"pin":[1234,5678]}'],
    [String.raw`pin.{1,20}\d{4}\W`, '{"type":"pin","value":1234}'],
    [String.raw`pin.{1,20}(?P<value>\W\d{4}\W)`, '{"type":"pin","value":1234}'],
    [String.raw`"":\d{4}\D`, '{"":1234,"x":"y"}'],
    [String.raw`:\d{4},"cvv"`, '{"pin":1234,"cvv":"x"}'],
    [String.raw`\S*\d{4}\S*`, '[1234,"x"]'],
  ];
  for (const [pattern, args] of cases) {
    const privacy = callWith(`pattern: '${pattern}', action: replace`);
    const call = { id: "c", function: { name: "f", arguments: args } };
    const sent = await replaced(privacy, JSON.stringify({ messages: [{ tool_calls: [call] }] }));
    assertEquals(sent.includes("1234"), false, `${pattern} ${args}`);
  }
});

Deno.test("a number in arguments of a tool stays where the group of a pattern runs over the end of its text", async () => {
  const args = '{"cmd":"use pass=hunter2 ","x":"pass=hunter3","in":120000}';
  const privacy = callWith(String.raw`pattern: 'pass=(?P<value>\S+)', action: replace`);
  const call = { id: "c", function: { name: "f", arguments: args } };
  const sent = await replaced(privacy, JSON.stringify({ messages: [{ tool_calls: [call] }] }));
  const written: string = JSON.parse(sent).messages[0].tool_calls[0].function.arguments;
  assertEquals(
    written.replaceAll(/qz\w+/g, "T"),
    '{"cmd":"use pass=T ","x":"pass=T","T":120000}',
  );
});

Deno.test("arguments of a tool with very many matches over the end of a text are divided in pieces", async () => {
  const unit = 'x=","a","a","a","a","a","a",5,"' + "b".repeat(30) + " ";
  async function piecesOf(member: string): Promise<number> {
    const value = { messages: [{ [member]: unit.repeat(2_000) }] };
    // Another policy, which remembers nothing of the text.
    const privacy = callWith(String.raw`pattern: 'x=\S+', action: mask, label: ${member}`);
    let pieces = 0;
    const pace = { ...NO_PACE, next: () => (pieces++, null) };
    await replaceJson(privacy, JSON.stringify(value), value, { pace, scopes: SCOPES });
    return pieces;
  }
  // Each match has eight texts, which are replaced one by one.
  assertEquals(await piecesOf("arguments"), await piecesOf("content") + 8 * 2_000);
});

Deno.test("arguments of a tool with any values stay JSON with the same members, and come back", async () => {
  const pieces = [
    ..."bfnrtu0041'\\ \n\f\t,:;@/".split(""),
    ...'bob@example.com https://a.test ://u:pa ss"w@h -----BEGIN\xa0PRIVATE\xa0KEY----- -----END\xa0PRIVATE\xa0KEY-----'
      .split(" "),
    ..."C:\\Users\\ A:\n 4111111111111111 Kingfisher \x1b[31m %20 +4930123456789".split(" "),
  ].map((piece) => piece.replaceAll("\xa0", " "));
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((all) => all.join(""));
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 4 }), async (texts) => {
      const privacy = callWith(
        "find: [email, card, phone, api_key, private_key], action: replace",
        "words: [kingfisher], action: replace",
      );
      const args = JSON.stringify(Object.fromEntries(texts.map((one, at) => [`m${at}`, one])));
      const call = { id: "c", function: { name: "f", arguments: args } };
      const request = JSON.stringify({ messages: [{ role: "assistant", tool_calls: [call] }] });
      const sent = await replaced(privacy, request);
      const [message] = JSON.parse(sent).messages;
      const written = JSON.parse(message.tool_calls[0].function.arguments);
      assertEquals(Object.keys(written), Object.keys(JSON.parse(args)));
      assertEquals(JSON.parse(restoreJson(sent, privacy.tokens)), JSON.parse(request));
    }),
  );
});

Deno.test("a value has one token in a text and in the arguments of a tool, which escape it, and comes back to both", async () => {
  const key = "-----BEGIN PRIVATE KEY-----\nMI/E\n-----END PRIVATE KEY-----";
  const written = JSON.stringify({ key });
  for (const args of [written, written.replace("/", "\\/")]) {
    const privacy = callWith("find: [private_key], action: replace");
    const call = { id: "c", function: { name: "f", arguments: args } };
    const messages = [{ content: `Write ${key}` }, { tool_calls: [call] }, { content: "-" }];
    const sent = await replaced(privacy, JSON.stringify({ messages }));
    assertEquals(new Set(sent.match(/qz[a-z]{16}/g)).size, 1, sent);
    call.function.arguments = written;
    assertEquals(restoreJson(sent, privacy.tokens), JSON.stringify({ messages }));
  }
});

Deno.test("of overlapping values the leftmost counts, of those the longest, then the first", async () => {
  const both = await of(
    { a: "1111 22" },
    "pattern: '1+', action: mask, label: short",
    "pattern: '1+ 2', action: mask, label: long",
    "pattern: '1 22', action: mask, label: late",
  );
  assertEquals(both, '{"a":"[long]2"}');
  const equal = await of(
    { a: "11" },
    "pattern: '11', action: mask, label: first",
    "pattern: '1+', action: mask, label: second",
  );
  assertEquals(equal, '{"a":"[first]"}');
});

const DATA = "QUJD".repeat(30);

Deno.test("data in base64 is counted and not searched; what only has its place is searched", async () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: DATA } };
  const privacy = callWith(MAIL);
  const value = {
    messages: [{
      role: "user",
      content: [image, { image_url: { url: `data:image/png;base64,${DATA}` } }],
    }],
  };
  assertEquals(await replaced(privacy, JSON.stringify(value)), JSON.stringify(value));
  assertEquals(privacy.counts.unread, 2);
  const planted = { messages: [{ content: [{ ...image, source: { data: "a@x.com" } }] }] };
  assertEquals(await of(planted, MAIL), "privacy_unreplaceable messages[0].content[0].source.data");
});

Deno.test("a short image, document or recording is unread too, and is searched; a short result is a word", async () => {
  const data = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
  const unreadIn = async (value: JsonObject) => {
    const privacy = callWith("find: [email, card], action: replace");
    assertEquals(await replaced(privacy, JSON.stringify(value)), JSON.stringify(value));
    return privacy.counts.unread;
  };
  for (
    const part of [
      { type: "image", source: { type: "base64", media_type: "image/gif", data } },
      { type: "document", source: { type: "base64", media_type: "application/pdf", data } },
      { type: "input_audio", input_audio: { data, format: "wav" } },
      { type: "file", file: { file_data: data } },
      { type: "file", file: { file_data: `${data} ${data}` } },
    ]
  ) assertEquals(await unreadIn({ messages: [{ content: [part] }] }), 1, part.type);
  const image = { type: "image", source: { type: "base64", data } };
  const inner = { type: "document", source: { type: "content", content: [image] } };
  const result = { type: "tool_result", tool_use_id: "t", content: [inner] };
  for (const part of [inner, result]) {
    assertEquals(await unreadIn({ messages: [{ content: [part] }] }), 1, part.type);
  }
  const variables = { any: { type: "input_file", file_data: data } };
  assertEquals(await unreadIn({ prompt: { id: "p", variables } }), 1);
  const document = { type: "document", source: { type: "text", data: "hello" } };
  assertEquals(await unreadIn({ messages: [{ content: [document] }] }), 0);
  assertEquals(await unreadIn({ input: [{ type: "call", result: "done" }] }), 0);
  const planted = { messages: [{ content: [{ file: { file_data: "4111111111111111" } }] }] };
  assertEquals(
    await of(planted, "find: [card], action: replace"),
    "privacy_unreplaceable messages[0].content[0].file.file_data",
  );
});

Deno.test("a file in base64 is unread wherever it is, and so is data that no provider has encrypted", async () => {
  const unreadIn = async (value: JsonObject) => {
    const privacy = callWith("find: [email, card], action: replace");
    assertEquals(await replaced(privacy, JSON.stringify(value)), JSON.stringify(value));
    return privacy.counts.unread;
  };
  const contentOf = (part: JsonObject) => ({ messages: [{ role: "user", content: [part] }] });
  const beginnings = [
    "iVBORw0KGgo",
    "/9j/",
    "R0lGODlh",
    "JVBERi0x",
    "UklGR",
    "AAAAIGZ0eXA",
    "SUQz",
  ];
  for (const file of beginnings.map((beginning) => beginning + "A".repeat(40))) {
    const places = [
      contentOf({ type: "image_url", image_url: { url: file } }),
      contentOf({ type: "video", video: file }),
      { messages: [{ role: "user", content: "Hi", images: [file] }] },
      { input: [{ role: "user", content: [{ type: "input_image", image_url: file }] }] },
      { input: [{ image: file }] },
      { documents: [{ image: file }] },
    ];
    for (const place of places) assertEquals(await unreadIn(place), 1, JSON.stringify(place));
  }
  const data = "QUJD".repeat(30);
  assertEquals(await unreadIn(contentOf({ type: "image", data, mimeType: "image/png" })), 1);
  assertEquals(await unreadIn(contentOf({ type: "text", text: "Hi", data })), 1);
  assertEquals(await unreadIn(contentOf({ type: "redacted_thinking", data })), 0);
  const encrypted = {
    role: "assistant",
    reasoning_details: [{ type: "reasoning.encrypted", data }],
  };
  assertEquals(await unreadIn({ messages: [encrypted] }), 0);
  for (const text of ["/9j/", `R0lGOD is no ${"file ".repeat(9)}`, "A".repeat(99)]) {
    assertEquals(await unreadIn(contentOf({ type: "text", text })), 0, text);
  }
});

Deno.test("lists of tokens are counted as unread, and data is refused with its path", async () => {
  const refusing = (value: JsonObject) => {
    const privacy = callWith(MAIL);
    return replaced(
      { ...privacy, policy: { ...privacy.policy, refusesUnread: true } },
      JSON.stringify(value),
    );
  };
  assertEquals(await refusing({ input: [[1, 2], [3]] }), "privacy_unread input[0][0]");
  assertEquals(await refusing({ prompt: [5] }), "privacy_unread prompt[0]");
  const image = `data:image/png;base64,${"QUJD".repeat(30)}`;
  assertEquals(await refusing({ "a@x.com": { image } }), "privacy_unread *.image");
  assertEquals(
    await refusing({ input: [{ content: [{ image_url: `data:image/png;base64,${DATA}` }] }] }),
    "privacy_unread input[0].content[0].image_url",
  );
});

Deno.test("an address with data is unread however it is written, and what is around its data is searched", async () => {
  const read = async (url: string) => {
    const privacy = callWith("find: [email, aws_key], action: replace");
    const sent = await replaced(
      privacy,
      JSON.stringify({ messages: [{ content: [{ image_url: { url } }] }] }),
    );
    return [privacy.counts.unread, sent] as const;
  };
  const unchanged = [
    `DATA:image/PNG;Base64,${DATA}`,
    ` data:image/png; charset=x ;base64 ,${DATA}`,
    `data:image/png;name="a b.png";base64,${DATA}`,
    `data:image/png;base64,${DATA}%3D`,
  ];
  for (const url of unchanged) {
    const [unread, sent] = await read(url);
    assertEquals([unread, sent.includes(JSON.stringify(url))], [1, true], url);
  }
  for (
    const hidden of [
      "data:AKIAIOSFODNN7EXAMPLE;base64,",
      "data:a/b;name=a@x.com;base64,QUJD,a@x.com",
    ]
  ) {
    const [unread, sent] = await read(hidden + DATA);
    assert(unread === 1 && /qz[a-z]+/.test(sent) && !/AKIA|a@x/.test(sent), sent);
  }
  assertEquals((await read("data:text/plain,QUJD"))[0], 0);
});

Deno.test("a number among tokens that is none is searched like any other number", async () => {
  const CARD = "find: [card], action: replace";
  for (const list of ["[4111111111111111]", "[1, 4111111111111111]", "[[2], [4111111111111111]]"]) {
    for (const member of ["input", "prompt"]) {
      assertMatch(
        await replaced(callWith(CARD), `{"${member}":${list}}`),
        /^privacy_unreplaceable /,
      );
    }
  }
  const tokens = '{"input":[[1, 123456789], [3]]}';
  assertEquals(await replaced(callWith(CARD), tokens), tokens);
});

Deno.test("signed thinking and sealed content stay as they are", async () => {
  const signed = { type: "thinking", thinking: "for a@x.com", signature: DATA };
  const kept = { messages: [{ role: "assistant", content: [signed] }] };
  assertEquals(await of(kept, MAIL), JSON.stringify(kept));
  const unsigned = { messages: [{ content: [{ type: "thinking", thinking: "a@x.com" }] }] };
  assertMatch(await of(unsigned, MAIL), /"thinking":"qz\w+email"/);
  const planted = { messages: [{ content: [{ ...signed, signature: "a@x.com" }] }] };
  assertEquals(await of(planted, MAIL), "privacy_unreplaceable messages[0].content[0].signature");
});

Deno.test("a request with more than 10,000 different values is refused", async () => {
  const text = Array.from({ length: 10_001 }, (_, index) => `u${index}@x.com`).join(" ");
  assertEquals((await of({ a: text }, MAIL)).split(" ")[0], "privacy_too_many_values");
});

Deno.test("a rule that only counts changes and refuses nothing, however often it matches", async () => {
  const privacy = callWith("words: [cat], action: monitor", MAIL);
  const cats = "cat ".repeat(30_000);
  // The second time it is known what the strings have.
  for (const times of [1, 2]) {
    const text = JSON.stringify({ x: [cats, cats, "b@x.com"] });
    assertMatch(
      await replaced(privacy, text),
      /^\{"x":\["(cat ){30000}","(cat ){30000}","qz\w+"\]\}$/,
    );
    const counts = privacy.counts.matches.map(({ rule, count }) => [rule, count]);
    assertEquals(Object.fromEntries(counts), { r0: 60_000 * times, r1: times });
  }
});

Deno.test("a search beyond its time is refused before anything is sent", async () => {
  const privacy = callWith(MAIL);
  const pace = { ...NO_PACE, next: () => Promise.resolve(), isOver: () => true };
  const text = JSON.stringify({ a: "x ".repeat(100_000) });
  const result = await replaceJson(privacy, text, JSON.parse(text), { pace, scopes: SCOPES });
  assertEquals(result.ok ? null : result.failure.kind, "privacy_search_timeout");
});

Deno.test("a search of many strings, and of one with many escapes, is interrupted all the time", async () => {
  const pieces = async (value: JsonObject) => {
    let count = 0;
    const next = () => {
      count += 1;
      return null;
    };
    const text = JSON.stringify(value);
    const pace = { ...NO_PACE, next };
    const result = await replaceJson(callWith(MAIL), text, value, { pace, scopes: SCOPES });
    assert(result.ok);
    return count;
  };
  const few = await pieces({ a: ["x"] });
  const strings = Array.from({ length: 200 }, (_, at) => `${at} ${"x y ".repeat(300)}`);
  assert(await pieces({ a: strings }) >= few + 200);
  const escapes = '\n"'.repeat(400_000);
  const [without, withValue] = [
    await pieces({ a: `${escapes}1` }),
    await pieces({ a: `${escapes} a@x.com` }),
  ];
  assert(withValue >= without + Math.floor(escapes.length / 65_536), `${without} ${withValue}`);
  const borders = await pieces({ a: "\0\x01".repeat(400_000) });
  const others = await pieces({ a: "\x02\x02".repeat(400_000) });
  assert(borders >= others + Math.floor(800_000 / 32_768), `${borders} ${others}`);
});

Deno.test("a long string that was searched before is not searched again, with the same result", async () => {
  const text = JSON.stringify({ a: `${"x ".repeat(2_000)}a@x.com`, b: "b@x.com" });
  const first = await replaced(callWith(MAIL), text);
  assertEquals(await replaced(callWith(MAIL), text), first);
  assert(!first.includes("@"));
  assert((await replaced(callWith("find: [card], action: replace"), text)).includes("a@x.com"));
});

Deno.test("a request is searched in as many steps as it is long: twice the size, at most 2.2 times the steps", async () => {
  const looks = async (text: string) => {
    let chars = 0;
    const [rule] = rulesOf(MAIL);
    assert(rule !== undefined);
    const privacy = callWith(MAIL);
    const finders = rule.finders.filter((finder) => "find" in finder).map((finder) => ({
      ...finder,
      find(...[window, ...rest]: Parameters<typeof finder.find>) {
        chars += window.length;
        finder.find(window, ...rest);
      },
    }));
    const policy = {
      ...privacy.policy,
      digest: crypto.randomUUID(),
      request: [{ ...rule, finders }],
    };
    let pieces = 0;
    const next = () => {
      pieces += 1;
      return null;
    };
    await replaceJson({ ...privacy, policy }, text, JSON.parse(text), {
      pace: { ...NO_PACE, next },
      scopes: SCOPES,
    });
    return { chars, pieces };
  };
  const kinds: Readonly<Record<string, (count: number) => unknown>> = {
    prose: (count) => "some words ".repeat(count),
    hostile: (count) => "a@".repeat(count),
    strings: (count) => Array.from({ length: count }, () => "a"),
    messages: (count) => Array.from({ length: count }, () => ({ role: "user", content: "hi you" })),
  };
  for (const [kind, of] of Object.entries(kinds)) {
    const [one, two] = [50_000, 100_000].map((count) => JSON.stringify({ x: of(count) }));
    const [a, b] = [await looks(one ?? ""), await looks(two ?? "")];
    assert(b.chars <= 2.2 * a.chars, `${kind}: ${a.chars} ${b.chars} characters`);
    assert(b.pieces <= 2.2 * a.pieces, `${kind}: ${a.pieces} ${b.pieces} pieces`);
    // A piece has few strings and few characters.
    assert(a.pieces >= (one ?? "").length / 400_000, kind);
  }
});

Deno.test("what was found of a string until there were too many values is not remembered as all of it", async () => {
  const [first, second] = ["a@x.com ".repeat(49_000), "b@x.com ".repeat(30_000)];
  const refused = await replaced(callWith(MAIL), JSON.stringify({ x: [first, second] }));
  assertMatch(refused, /^privacy_too_many_values/);
  assert(!(await replaced(callWith(MAIL), JSON.stringify({ y: second }))).includes("@"));
});
