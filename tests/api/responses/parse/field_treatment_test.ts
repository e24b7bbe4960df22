import { CLIENT_RUN, nativeTreatment } from "../../../../src/api/responses/native/fields.ts";
import { inputItem, part } from "../../../../src/api/items/item_shapes.ts";
import { responsesBody } from "../../../../src/api/responses/request_shape.ts";
import { translatedTreatment } from "../../../../src/api/responses/parse/field_treatment.ts";
import {
  RESPONSES_FIELDS,
  type ResponsesField,
} from "../../../../src/api/responses/parse/fields.ts";
import type { Shape } from "../../../../src/api/items/shape.ts";
import { tool, toolChoice } from "../../../../src/api/items/tool_shapes.ts";
import { success } from "../../../../src/core/failure/result.ts";
import { wires } from "../../../../src/wires/registry.ts";
import { pathsOf } from "../../../../src/prompt/response_promise.ts";
import type { Wire } from "../../../../src/wires/wire.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { providerOf, targetAt, type Written } from "../../../support/translated.ts";
import { assertTreatment, type Encoded, shownText } from "../../../wires/probe.ts";
import { translateFor } from "../translated.ts";
import { FOREIGN_VALUE, type Probe, RESPONSES_PROBES } from "./field_probes.ts";

const WIRES: readonly Wire[] = [wires.compat, wires.messages, wires.local];

const PATHS = Object.keys(RESPONSES_FIELDS.rows).filter(isField);

function isField(path: string): path is ResponsesField {
  return Object.hasOwn(RESPONSES_FIELDS.rows, path);
}

function encode(wire: Wire, body: Written, settings: Written) {
  const target = targetAt(providerOf(wire, settings), wire);
  const translated = translateFor(target, JSON.stringify({ model: "p/m", ...body }));
  if (!translated.ok) return translated;
  const encoded = translated.value.encode();
  if (!encoded.ok) return encoded;
  const { payload, lossy = [], promises = [] } = encoded.value;
  return success<Encoded>({ text: payload?.text() ?? "", lossy, verified: pathsOf(promises) });
}

/** The probe of a variant of items, tools or choices, or of a field of another API. */
function variantProbe(path: string): Probe {
  const [, list = "", type = ""] = /^(input|tools|tool_choice)\[(\w+)\]$/.exec(path) ?? [];
  switch (list) {
    case "input":
      return {
        path: "input[1].type",
        value: type,
        body: (given) => ({
          input: [{ role: "user", content: "Hi" }, ...given === undefined ? [] : [{ type: given }]],
        }),
      };
    case "tools":
      return {
        path: "tools[0].type",
        value: type,
        body: (given) => ({ input: "Hi", tools: given === undefined ? [] : [{ type: given }] }),
      };
    case "tool_choice":
      return {
        path: "tool_choice.type",
        value: type,
        body: (given) => ({
          input: "Hi",
          tool_choice: given === undefined ? undefined : { type: given },
        }),
      };
    default:
      assertEquals(RESPONSES_FIELDS.topLevel.get(path)?.kind, "refused", `${path} has no probe`);
      return { path, value: FOREIGN_VALUE, body: (given) => ({ input: "Hi", [path]: given }) };
  }
}

for (const wire of WIRES) {
  // References are resolved to stored items before the translation.
  for (const path of PATHS.filter((one) => one !== "input[item_reference].id")) {
    const treatment = translatedTreatment(path, wire);
    Deno.test(`Responses over ${wire.name}: ${path} is ${treatment.kind}, as the page says`, () => {
      const { values = {}, body, shown, ...probe } = RESPONSES_PROBES[path] ?? variantProbe(path);
      const value = values[wire.name] ?? probe.value;
      const text = typeof shown === "string" ? shown : shown?.[wire.name];
      assertTreatment({
        path: probe.path,
        value,
        send: (given, settings) => encode(wire, body(given, wire.name), settings),
        shown: text ?? shownText(value),
        always: probe.byGateway ?? false,
      }, treatment);
    });
  }
}

Deno.test("a field that Responses does not know is dropped over Chat, and named as lossy", () => {
  assertEquals(RESPONSES_FIELDS.others.kind, "lossy");
  for (const wire of WIRES) {
    const encoded = encode(wire, { input: "Hi", unheard_of: 1, empty: [], none: null }, {});
    assert(encoded.ok);
    assertEquals(encoded.value.lossy, ["unheard_of"]);
    assert(!encoded.value.text.includes("unheard_of"));
  }
});

/** Members of a shape for this variant. */
function membersOf(shape: Shape, type: string): readonly string[] {
  return Object.keys(shape.object?.({ type }) ?? {}).filter((member) => member !== "type");
}

/** Paths of the variants of a shape and, unless the variant is refused, of their members. */
function variantPaths(holder: string, shape: Shape): readonly string[] {
  return (shape.types ?? []).flatMap((type) => {
    const path = `${holder}[${type}]`;
    const row = isField(path) ? RESPONSES_FIELDS.rows[path] : undefined;
    return row?.kind === "refused"
      ? [path]
      : membersOf(shape, type).map((member) => `${path}.${member}`);
  });
}

Deno.test("the table of Responses fields names every field, item, part and tool whose type is checked", () => {
  const isNamed = (path: string) =>
    PATHS.some((row) =>
      row === path || /^[.=[]/.test(row.slice(path.length)) && row.startsWith(path)
    );
  const checked = [
    ...Object.keys(responsesBody.object?.({}) ?? {}),
    ...variantPaths("input", inputItem),
    ...variantPaths("input[message].content", part),
    ...variantPaths("tools", tool),
    ...variantPaths("tool_choice", toolChoice),
  ];
  assert(checked.length > 120);
  assertEquals(checked.filter((path) => !isNamed(path)), []);
});

Deno.test("over a native target only background and hosted tools need a capability", () => {
  const gated = PATHS.filter((path) => nativeTreatment(path).kind === "gated");
  const hosted = gated.filter((path) => path.startsWith("tools["));
  assertEquals(gated.filter((path) => !hosted.includes(path)), ["background"]);
  assert(hosted.length > 8);
  assert(hosted.every((path) => !CLIENT_RUN.some((type) => path.startsWith(`tools[${type}]`))));
  assertEquals(
    PATHS.filter((path) => !gated.includes(path) && nativeTreatment(path).kind !== "exact"),
    [],
  );
});
