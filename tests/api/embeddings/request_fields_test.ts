import { API_SECTIONS } from "../../../scripts/tools/reference/request_fields.ts";
import { relayedApis } from "../../../src/api/relay/relay.ts";
import { clientApis } from "../../../src/api/registry.ts";
import type { JsonValue } from "../../../src/core/json/json.ts";
import { type Result, success } from "../../../src/core/failure/result.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { EMBEDDINGS_FIELDS, type EmbeddingsField } from "../../../src/wires/embeddings_fields.ts";
import { treatmentOf } from "../../../src/prompt/field_table.ts";
import { wires } from "../../../src/wires/registry.ts";
import type { EmbeddingsWire, Wire } from "../../../src/wires/wire.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import {
  assertFailed,
  providerOf,
  targetAt,
  valueOf,
  type Written,
} from "../../support/translated.ts";
import { assertTreatment, type Encoded, shownText } from "../../wires/probe.ts";

interface Probe {
  readonly field: string;
  readonly value: JsonValue;
  readonly shown?: string;
  /** Types of provider that send the same without the field. */
  readonly always?: readonly string[];
}

const PROBES: Readonly<Record<EmbeddingsField, Probe>> = {
  "model": { field: "model", value: "p/m", shown: '"model":"m"', always: ["compat", "local"] },
  "input": { field: "input", value: "Hello" },
  "input=tokens": { field: "input", value: [77, 78], shown: "77" },
  "encoding_format": { field: "encoding_format", value: "float" },
  "encoding_format=base64": { field: "encoding_format", value: "base64" },
  "dimensions": { field: "dimensions", value: 77 },
  "user": { field: "user", value: "user-1" },
};

/** Where local runtimes refuse the field, a value that they refuse. */
const REFUSED: Readonly<Partial<Record<EmbeddingsField, JsonValue>>> = {
  encoding_format: "base64",
};

function send(
  wire: Wire,
  embeddings: EmbeddingsWire,
  body: Written,
  settings: Written,
): Result<Encoded> {
  const document = valueOf(parseDocument(JSON.stringify({ model: "p/m", input: "Hi", ...body })));
  const target = targetAt(providerOf(wire, settings), wire);
  const encoded = embeddings.encode(document, target);
  if (!encoded.ok) return encoded;
  const { payload, lossy = [] } = encoded.value;
  return success({ text: payload?.text() ?? "", lossy, verified: [] });
}

for (const wire of [wires.compat, wires.local]) {
  const { embeddings } = wire;
  assert(embeddings !== null);

  for (const path of EMBEDDINGS_FIELDS) {
    const treatment = treatmentOf(embeddings.fields, path);
    Deno.test(`embeddings over ${wire.name}: ${path} is ${treatment.kind}, as its table says`, () => {
      const { field, value, shown, always = [] } = PROBES[path];
      const own = treatment.kind === "refused" ? REFUSED[path] ?? value : value;
      assertTreatment({
        path: field,
        value: own,
        send: (given, settings) =>
          send(wire, embeddings, given === undefined ? {} : { [field]: given }, settings),
        shown: shown ?? shownText(own),
        always: always.includes(wire.name),
      }, treatment);
    });
  }

  Deno.test(`embeddings over ${wire.name}: a field without a row is refused`, () => {
    assertEquals(embeddings.fields.others.kind, "refused");
    assertFailed(
      send(wire, embeddings, { unheard_of: 1 }, {}),
      "unsupported_feature",
      "unheard_of",
    );
  });
}

Deno.test("the page of request fields has a section for every client API whose requests are routed", () => {
  // Relayed requests reach the upstream as they are, so that no field has a treatment.
  const routed = clientApis.filter((api) =>
    !relayedApis.includes(api) && api.endpoints.some(({ matchesAs }) => matchesAs !== undefined)
  );
  assertEquals(
    API_SECTIONS.map(({ name }) => name).toSorted(),
    routed.map(({ name }) => name ?? "").toSorted(),
  );
});
