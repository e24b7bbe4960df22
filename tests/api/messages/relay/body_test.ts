import fc from "fast-check";
import { relayedBody, relayedDefaults } from "../../../../src/api/messages/relay/body.ts";
import { sealedBlocks } from "../../../../src/api/messages/relay/sealed_blocks.ts";
import { sealThinking } from "../../../../src/api/reasoning/sealed_thinking.ts";
import type { JsonObject } from "../../../../src/core/json/json.ts";
import { parseDocument } from "../../../../src/formats/document.ts";
import { utf8Bytes } from "../../../../src/formats/utf8.ts";
import { wires } from "../../../../src/wires/registry.ts";
import { valueTexts } from "../../../formats/json_texts.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { providerOf, valueOf } from "../../../support/translated.ts";

/** The text that a target with this model is sent. */
function sentFor(text: string, model: string, defaults: readonly [string, string][] = []): string {
  const document = valueOf(parseDocument(text, utf8Bytes(text)));
  return relayedBody(document, model, defaults, sealedBlocks(document.value.messages)).text();
}

Deno.test("only the value of model is replaced, wherever it is", () => {
  const text = '{"n":1.0,\r\n "m\\u006fdel" :"p\\/a", "messages":[ ] ,"x":{"model":"p/a"}}';
  assertEquals(sentFor(text, "b"), text.replace('"p\\/a"', '"b"'));
  assertEquals(sentFor(text.replace('"p\\/a"', "null"), "b"), text.replace('"p\\/a"', '"b"'));
});

Deno.test("an absent model is written before the other members", () => {
  assertEquals(sentFor('{ "messages":[]}', "b"), '{"model":"b", "messages":[]}');
});

Deno.test("a request in which nothing changes is sent with the received bytes", () => {
  const text = '{"model":"m\\u0031", "messages":[]}\n';
  const bytes = utf8Bytes(text);
  const document = valueOf(parseDocument(text, bytes));
  const payload = relayedBody(document, "m1", [], []);
  assert(payload.bytes() === bytes);
  assertEquals(payload.text(), text);
});

const blanks = fc.constantFrom("", " ", "\r\n", "\t\n ");
const OWN = JSON.stringify({
  type: "thinking",
  thinking: "Hm",
  signature: sealThinking([{ type: "reasoning", text: "Hm" }]),
});

/** Members with any values, whose keys none of the rules reads. */
function members(name: string): fc.Arbitrary<readonly string[]> {
  return fc.array(fc.tuple(blanks, valueTexts), { maxLength: 4 }).map((values) =>
    values.map(([blank, value], at) => `"${name}\\u0061${at}"${blank}:${blank}${value}`)
  );
}

Deno.test("outside the edits every byte of any request stays as it was received", () => {
  const blocks = fc.array(fc.tuple(valueTexts, fc.boolean()), { maxLength: 5 });
  fc.assert(
    fc.property(members("k"), members("l"), blocks, blanks, (before, behind, content, blank) => {
      const stay = content.filter(([, isSealed]) => !isSealed).map(([value]) => value.trim());
      const written = (model: string, list: readonly string[], messages: readonly string[]) =>
        `${blank}{${
          [
            ...before,
            `"model"${blank}:${blank}${model}`,
            `"messages"${blank}:[${
              [
                ...messages,
                ...list.length === 0 && content.length > 0 ? [] : [
                  `{"role":"assistant"${blank},"content":[${list.join(",")}],"dup":1.0,"dup":2}`,
                ],
              ].join(",")
            }]`,
            ...behind,
          ].join(`,${blank}`)
        }}${blank}`;
      const user = `{"role":"user",${blank}"content":${content[0]?.[0].trim() ?? "1E400"}}`;
      const all = content.map(([value, isSealed]) => isSealed ? OWN : value.trim());
      const text = written('"p/\\u006d"', all, [user]);
      assertEquals(sentFor(text, "m"), written('"m"', stay, [user]));
    }),
  );
});

const SAMPLING = providerOf(wires.messages, { temperature: 0.3, top_p: 0.9 });

function defaultsFor(value: JsonObject, version = "2023-06-01"): readonly string[] {
  return relayedDefaults(value, version, SAMPLING).map(([key, text]) => `${key}=${text}`);
}

Deno.test("absent sampling fields get the defaults of the provider", () => {
  assertEquals(defaultsFor({}), ["temperature=0.3", "top_p=0.9"]);
  assertEquals(defaultsFor({ temperature: 0 }), ["top_p=0.9"]);
  assertEquals(defaultsFor({ thinking: { type: "disabled" }, top_p: 1 }), ["temperature=0.3"]);
  assertEquals(defaultsFor({ thinking: { type: "between_tools" } }).length, 2);
  assertEquals(defaultsFor({ thinking: null }).length, 2);
});

Deno.test("no sampling default is added where the upstream would refuse it", () => {
  assertEquals(defaultsFor({}, "2026-10-21"), []);
  assertEquals(defaultsFor({}, "2027-01-01"), []);
  assertEquals(defaultsFor({}, "2026-10-20").length, 2);
  assertEquals(defaultsFor({}, "latest").length, 2);
  assertEquals(defaultsFor({ thinking: { type: "enabled", budget_tokens: 1024 } }), []);
  assertEquals(defaultsFor({ thinking: { type: "adaptive" } }), []);
});

Deno.test("defaults are written before the received members", () => {
  const text = '{"model":"p/m","messages":[],"n":1.0}';
  assertEquals(
    sentFor(text, "m", [["temperature", "0.3"]]),
    '{"temperature":0.3,"model":"m","messages":[],"n":1.0}',
  );
});

Deno.test("thinking is turned off with the seals of a running tool loop, and nothing else changes", () => {
  const call = '{"type":"tool_use","id":"c","name":"f","input":{"n":1.0}}';
  const result = '{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]}';
  const written = (thinking: string, blocks: string) =>
    `{"model":"m",${thinking} "messages":[{"role":"assistant","content":[${blocks}]},${result}]}`;
  const on = '"thinking":{"type":"adaptive","display":"omitted"},' +
    '"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},';
  assertEquals(
    sentFor(written(on, `${OWN},${call}`), "m"),
    written('"thinking":{"type":"disabled"},', call).replace("}, ", "},"),
  );
  assertEquals(sentFor(written(on, call), "m"), written(on, call));
});
