import {
  isMessagesField,
  MESSAGES_FIELDS,
  type MessagesField,
  messagesTreatment,
} from "../../../src/api/messages/fields.ts";
import { clientLosses } from "../../../src/api/messages/translate/candidate.ts";
import { relayedBody } from "../../../src/api/messages/relay/body.ts";
import { type Result, success } from "../../../src/core/result.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { encodeChatRequest } from "../../../src/wires/encode_chat_request.ts";
import { pathsOf } from "../../../src/wires/verified/response_promise.ts";
import type { WireName } from "../../../src/wires/wire.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { valueOf, type Written } from "../../support/translated.ts";
import { assertTreatment, type Encoded, shownText } from "../../wires/probe.ts";
import { MESSAGES_PROBES } from "./field_probes.ts";
import { ABLE, refusalOf, targetOf, TRANSLATED, translateFields } from "./translated.ts";

/** What a target of this protocol is sent for the fields of a request. */
function encode(body: JsonObject, wire: WireName, settings: Written): Result<Encoded> {
  const translated = translateFields(body, wire, settings);
  if (!translated.ok) return translated;
  const { chat, lossy, clientPath, toClientPaths } = translated.value;
  const encoded = encodeChatRequest(chat, targetOf(wire, settings));
  if (!encoded.ok) return toClientPaths(encoded);
  const { payload, lossy: carried = [], promises = [] } = encoded.value;
  return success({
    text: payload?.text() ?? "",
    lossy: [...lossy, ...clientLosses(carried).map(clientPath)],
    verified: pathsOf(promises).map(clientPath),
  });
}

for (const wire of TRANSLATED) {
  for (const field of MESSAGES_FIELDS) {
    const treatment = messagesTreatment(field, wire);
    Deno.test(`the Messages API over ${wire}: ${field} is ${treatment.kind}, as the page says`, () => {
      const { path, value, body, shown, always = false, checkedOver = [] } = MESSAGES_PROBES[field];
      const isChecked = checkedOver.includes(wire);
      if (isChecked) {
        assertEquals(valueOf(encode(body(value), wire, ABLE)).verified, [path]);
      }
      assertTreatment({
        path,
        value,
        send: (given, settings) => {
          const encoded = encode(body(given), wire, settings);
          return encoded.ok && isChecked ? success({ ...encoded.value, verified: [] }) : encoded;
        },
        shown: shown ?? shownText(value),
        always,
      }, treatment);
    });
  }
}

Deno.test("over the same API every field of the page reaches the provider as it is", () => {
  for (const field of MESSAGES_FIELDS) {
    assertEquals(messagesTreatment(field, "messages").kind, "exact");
    const { value, body } = MESSAGES_PROBES[field];
    const request = { max_tokens: 1, messages: [], ...body(value), model: "p/m" };
    const document = valueOf(parseDocument(JSON.stringify(request)));
    const sent = relayedBody(document, "m", [], []);
    assertEquals(JSON.parse(sent.text()), { ...request, model: "m" }, field);
  }
});

Deno.test("a field without a row is refused where the gateway translates", () => {
  for (const wire of TRANSLATED) {
    assert(!isMessagesField("unheard_of"));
    assertEquals(refusalOf(translateFields({ unheard_of: 1 }, wire)), [
      "unsupported_feature",
      "unheard_of",
      "unheard_of: Extra inputs are not permitted",
    ]);
  }
});

Deno.test("every top-level field that the translation reads has a row", () => {
  const named = (name: string) =>
    MESSAGES_FIELDS.some((path: MessagesField) => path.split(/[.[=]/)[0] === name);
  const refused = (name: string) => !translateFields({ [name]: { any: "thing" } }).ok;
  const accepted = ["cache_control", "metadata", "thinking", "tool_choice", "tools", "system"];
  assertEquals(accepted.filter((name) => !named(name)), []);
  assertEquals(["unheard_of", "n", "user"].filter((name) => !refused(name)), []);
});
