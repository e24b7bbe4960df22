import { CHECKED_FIELDS } from "../../src/api/chat/request.ts";
import { success } from "../../src/core/failure/result.ts";
import { parseDocument } from "../../src/formats/document.ts";
import { CHAT_FIELDS } from "../../src/prompt/chat_fields.ts";
import { treatmentOf } from "../../src/prompt/field_table.ts";
import { wires } from "../../src/wires/registry.ts";
import { pathsOf } from "../../src/prompt/response_promise.ts";
import type { Wire } from "../../src/wires/wire.ts";
import { assert, assertEquals } from "../support/assert.ts";
import {
  assertFailed,
  providerOf,
  targetAt,
  valueOf,
  type Written,
} from "../support/translated.ts";
import { CHAT_PROBES } from "./chat_probes.ts";
import { assertTreatment, type Encoded, shownText } from "./probe.ts";

const WIRES: readonly Wire[] = Object.values(wires);

function encode(wire: Wire, body: Written, settings: Written = {}) {
  const document = valueOf(parseDocument(JSON.stringify({ model: "p/m", ...body })));
  const provider = providerOf(wire, settings);
  const chat = { document, stream: document.value.stream === true, includeUsage: false };
  const encoded = wire.encode(chat, targetAt(provider, wire));
  if (!encoded.ok) return encoded;
  const { payload, lossy = [], promises = [] } = encoded.value;
  return success<Encoded>({ text: payload?.text() ?? "", lossy, verified: pathsOf(promises) });
}

for (const wire of WIRES) {
  for (const field of CHAT_FIELDS) {
    const treatment = treatmentOf(wire.fields, field);
    Deno.test(`${wire.name}: ${field} is ${treatment.kind}, as its table says`, () => {
      const { path, value, values = {}, body, shown, always = [] } = CHAT_PROBES[field];
      const own = values[wire.name] ?? value;
      const text = typeof shown === "string" ? shown : shown?.[wire.name];
      assertTreatment({
        path,
        value: own,
        send: (given, settings) => encode(wire, body(given, wire.name), settings),
        shown: text ?? shownText(own),
        always: always.includes(wire.name),
      }, treatment);
    });
  }
}

Deno.test("the field tables name every Chat field whose type is checked", () => {
  const isNamed = (name: string) => CHAT_FIELDS.some((path) => path === name);
  assert(CHECKED_FIELDS.body.length > 30);
  assertEquals(CHECKED_FIELDS.body.filter((name) => !isNamed(name)), []);
  const inMessage = (name: string) =>
    CHAT_FIELDS.some((path) =>
      new RegExp(`^messages\\[\\w+\\](\\.${name}\\b|$)`).test(path) && path.includes(name) ||
      name === "role"
    );
  assertEquals(CHECKED_FIELDS.message.filter((name) => !inMessage(name)), []);
});

/** Requests with a member that no table has, by the path of its refusal. */
const UNHEARD_OF: Readonly<Record<string, Written>> = {
  "unheard_of": { messages: [{ role: "user", content: "Hi" }], unheard_of: 1 },
  "messages[0].unheard_of": { messages: [{ role: "user", content: "Hi", unheard_of: 1 }] },
  "messages[0].content[0].unheard_of": {
    messages: [{ role: "user", content: [{ type: "text", text: "Hi", unheard_of: 1 }] }],
  },
  "tools[0].function.unheard_of": {
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ type: "function", function: { name: "f", unheard_of: 1 } }],
  },
  "response_format.json_schema.unheard_of": {
    messages: [{ role: "user", content: "Hi" }],
    response_format: { type: "json_schema", json_schema: { name: "n", schema: {}, unheard_of: 1 } },
  },
  // A row of the table is no field of a request.
  "messages[user]": { messages: [{ role: "user", content: "Hi" }], "messages[user]": 1 },
};

for (const [path, body] of Object.entries(UNHEARD_OF)) {
  Deno.test(`a member without a row is refused by translations and sent by compat: ${path}`, () => {
    for (const wire of WIRES) {
      const encoded = encode(wire, body, { capabilities: { structured_outputs: true } });
      assertEquals(wire.fields.others.kind, wire.name === "compat" ? "exact" : "refused");
      if (wire.name === "compat") {
        assert(valueOf(encoded).text.includes(path.split(".").at(-1) ?? ""));
      } else assertFailed(encoded, "unsupported_feature", path);
    }
  });
}
