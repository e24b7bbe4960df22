import { relayedBody } from "../../../../src/api/messages/relay/body.ts";
import { relayedTreatment } from "../../../../src/api/messages/relay/fields.ts";
import { sealedBlocks, sealedPaths } from "../../../../src/api/messages/relay/sealed_blocks.ts";
import { translatedTreatment } from "../../../../src/api/messages/parse/field_treatment.ts";
import { MESSAGES_FIELDS, type MessagesField } from "../../../../src/api/messages/parse/fields.ts";
import { sealThinking } from "../../../../src/api/reasoning/sealed_thinking.ts";
import type { JsonObject, JsonValue } from "../../../../src/core/json/json.ts";
import { type Result, success } from "../../../../src/core/failure/result.ts";
import { parseDocument } from "../../../../src/formats/document.ts";
import { wires } from "../../../../src/wires/registry.ts";
import type { WireName } from "../../../../src/wires/wire.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { valueOf, type Written } from "../../../support/translated.ts";
import { assertTreatment, type Encoded, shownText } from "../../../wires/probe.ts";
import { ABLE, encode as encodeRequest, refusalOf, TRANSLATED } from "../translated.ts";
import { type Members, MESSAGES_PROBES, objectOf, type Probe, TOOL, USER } from "./field_probes.ts";

const PATHS = Object.keys(MESSAGES_FIELDS.rows).filter(isField);

function isField(path: string): path is MessagesField {
  return Object.hasOwn(MESSAGES_FIELDS.rows, path);
}

function requestOf(members: Members): JsonObject {
  return objectOf({ model: "p/m", max_tokens: 100, messages: [USER], ...members });
}

function encode(wire: WireName, members: Members, settings: Written): Result<Encoded> {
  return encodeRequest(requestOf(members), wire, settings);
}

/** Encodes a request for a target with the Messages API. */
function relay(members: Members): Result<Encoded> {
  const document = valueOf(parseDocument(JSON.stringify(requestOf(members))));
  const sealed = sealedBlocks(document.value.messages);
  const text = relayedBody(document, "m", [], sealed).text();
  return success({ text, lossy: sealedPaths(document.value, sealed), verified: [] });
}

/** The probe of a variant of blocks or tools, or of an unknown top-level field. */
function variantProbe(path: string): Probe {
  const [, list = "", type = ""] = /^(.+)\[(\w+)\]$/.exec(path) ?? [];
  const block = (given: JsonValue | undefined) => given === undefined ? [] : [{ type: given }];
  switch (list) {
    case "tools":
      return { path: "tools.0.type", value: type, body: (given) => ({ tools: block(given) }) };
    case "messages[].content":
      return {
        path: "messages.1.content.0",
        value: type,
        body: (given) => ({
          messages: [USER, { role: "assistant", content: block(given) }, USER],
        }),
      };
    case "messages[user].content":
      return {
        path: "messages.0.content.1",
        value: type,
        body: (given) => ({
          messages: [{ role: "user", content: [{ type: "text", text: "Hi" }, ...block(given)] }],
        }),
      };
    case "messages[system].content":
      return {
        path: "messages.1.content.0",
        value: type,
        body: (given) => ({ messages: [USER, { role: "system", content: block(given) }] }),
      };
    default:
      assertEquals(MESSAGES_FIELDS.topLevel.get(path)?.kind, "refused", `${path} has no probe`);
      return { path, value: [{ any: 1 }], body: (given) => ({ [path]: given }) };
  }
}

function probeOf(path: MessagesField): Probe {
  return MESSAGES_PROBES[path] ?? variantProbe(path);
}

for (const wire of TRANSLATED) {
  for (const field of PATHS) {
    const treatment = translatedTreatment(field, wires[wire]);
    Deno.test(`Messages over ${wire}: ${field} is ${treatment.kind}, as the page says`, () => {
      const { path, value, body, shown, byGateway = false } = probeOf(field);
      const text = typeof shown === "string" ? shown : shown?.[wire];
      assertTreatment({
        path,
        value,
        send: (given, settings) => encode(wire, body(given, wire), settings),
        shown: text ?? shownText(value),
        always: byGateway,
      }, treatment);
    });
  }
}

for (const field of PATHS) {
  Deno.test(`Messages over messages: ${field} is exact, as the page says`, () => {
    const treatment = relayedTreatment(field);
    assertEquals(treatment.kind, "exact");
    const { path, value, body } = probeOf(field);
    assertTreatment({
      path,
      value,
      send: (given) => relay(body(given, "messages")),
      shown: field === "model" ? '"model":"m"' : JSON.stringify(value),
      always: field === "model" || isDefault(body(value, "messages"), body(undefined, "messages")),
    }, treatment);
  });
}

/** True if the request without a field has the same value by default. */
function isDefault(one: Members, other: Members): boolean {
  return JSON.stringify(requestOf(one)) === JSON.stringify(requestOf(other));
}

Deno.test("thinking that the gateway made is cut out and named over messages", () => {
  const signature = sealThinking([{ type: "thinking", thinking: "Hm." }]);
  const text = { type: "text", text: "Yes" };
  const thinking = { type: "thinking", thinking: "Hm.", signature };
  const dialogue = (content: JsonValue[]) => ({
    messages: [USER, { role: "assistant", content }, USER],
  });
  assertEquals(valueOf(relay(dialogue([thinking, text]))), {
    text: valueOf(relay(dialogue([text]))).text,
    lossy: ["messages.1.content.0"],
    verified: [],
  });
});

/** Requests with a member that the table has not, by the path of its refusal. */
const UNHEARD_OF: Readonly<Record<string, Members>> = {
  "unheard_of": { unheard_of: 1 },
  // A row of the table is no field of a request.
  "messages[user]": { "messages[user]": 1 },
  "metadata.unheard_of": { metadata: { unheard_of: 1 } },
  "output_config.unheard_of": { output_config: { unheard_of: 1 } },
  "output_config.format.unheard_of": {
    output_config: { format: { type: "json_schema", schema: {}, unheard_of: 1 } },
  },
  "thinking.adaptive.unheard_of": { thinking: { type: "adaptive", unheard_of: 1 } },
  "thinking.adaptive.budget_tokens": { thinking: { type: "adaptive", budget_tokens: 2000 } },
  "tool_choice.unheard_of": { tools: [TOOL], tool_choice: { type: "auto", unheard_of: 1 } },
  "tool_choice.name": { tools: [TOOL], tool_choice: { type: "any", name: "look" } },
  "tools.0.custom.unheard_of": { tools: [{ ...TOOL, unheard_of: 1 }] },
  "messages.0.unheard_of": { messages: [{ ...USER, unheard_of: 1 }] },
  "messages.1.output_config.unheard_of": {
    messages: [USER, { role: "system", content: "x", output_config: { unheard_of: 1 } }],
  },
  "messages.0.content.0.unheard_of": {
    messages: [{ role: "user", content: [{ type: "text", text: "Hi", unheard_of: 1 }] }],
  },
};

for (const [path, members] of Object.entries(UNHEARD_OF)) {
  Deno.test(`a member without a row is refused by translations and passed on by messages: ${path}`, () => {
    for (const wire of TRANSLATED) {
      assertEquals(refusalOf(encode(wire, members, ABLE)), [
        "unsupported_feature",
        path,
        `${path}: Extra inputs are not permitted`,
      ]);
    }
    assertEquals(
      valueOf(relay(members)).text,
      JSON.stringify(requestOf({ model: "m", ...members })),
    );
  });
}

Deno.test("an unknown top-level field that is empty requests nothing", () => {
  assertEquals(MESSAGES_FIELDS.others.kind, "refused");
  for (const wire of TRANSLATED) {
    const without = valueOf(encode(wire, {}, {}));
    for (const empty of [null, [], {}]) {
      assertEquals(valueOf(encode(wire, { unheard_of: empty }, {})), without);
    }
  }
});

Deno.test("every row of the table is a field, a member or a variant with a probe", () => {
  assert(PATHS.length > 120);
  for (const path of PATHS) assert(probeOf(path).path !== "");
});
