import { messageOf } from "../../src/core/failure/openai_error.ts";
import { newCarrier } from "../../src/prompt/carry.ts";
import type { ChatField } from "../../src/prompt/chat_fields.ts";
import {
  advised,
  byWire,
  exact,
  gated,
  ignored,
  lossy,
  needing,
  newFieldTable,
  open,
  refusedUnless,
  type Treatment,
  verified,
} from "../../src/prompt/field_table.ts";
import { wires } from "../../src/wires/registry.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { assertFailed, providerOf, type Written } from "../support/translated.ts";

const AT = { field: "user", path: "a.user", refusedPath: "a.user.type" } as const;

function carrierOf(treatment: Treatment | null, settings: Written = {}) {
  return newCarrier({
    fields: newFieldTable<ChatField>(treatment === null ? {} : { user: treatment }),
    provider: providerOf(wires.compat, settings),
    omitTools: ["web_search"],
  });
}

Deno.test("a field that a table carries or ignores is neither refused nor lossy", () => {
  for (const treatment of [exact, ignored]) {
    const carrier = carrierOf(treatment);
    assertEquals(carrier.use(AT, "u"), null);
    assertEquals(carrier.done(), {});
  }
});

Deno.test("a field that is carried in part is named by its path", () => {
  const carrier = carrierOf(lossy("a part"));
  assertEquals(carrier.use(AT, "u"), null);
  carrier.lose("b");
  assertEquals(carrier.done(), { lossy: ["a.user", "b"] });
});

Deno.test("a field without a row, or that is refused, is refused by the path for it", () => {
  for (const treatment of [null, refusedUnless("no", [])]) {
    const refused = carrierOf(treatment).use(AT, "u");
    assert(refused !== null);
    assertFailed(refused, "unsupported_feature", "a.user.type");
  }
});

Deno.test("a member without a row is refused, except in an object that is open", () => {
  for (const isOpen of [false, true]) {
    const rows = { "response_format[text]": isOpen ? open(exact) : exact };
    const fields = newFieldTable<ChatField>(rows);
    const carrier = newCarrier({ fields, provider: providerOf(wires.compat, {}) });
    const unknown = carrier.unknown({ type: "text", x: 1 }, "response_format[text]", "f");
    assertEquals(unknown === null, isOpen);
  }
});

Deno.test("values that request nothing are not refused", () => {
  const carrier = carrierOf(refusedUnless("no", [], 0, ["text"]));
  for (const value of ["no", [], {}, 0, JSON.rawJSON("0.0"), ["text"]]) {
    assertEquals(carrier.use(AT, value), null, JSON.stringify(value));
  }
  for (const value of ["", ["a"], { a: 1 }, 1, ["text", "text"], true]) {
    assert(carrier.use(AT, value) !== null, JSON.stringify(value));
  }
});

Deno.test("a field that needs a capability is refused with the name of its key", () => {
  const strict = gated("structured_outputs");
  const refused = carrierOf(strict).use(AT);
  assert(refused !== null);
  assertFailed(refused, "unsupported_feature", "a.user.type");
  assert(messageOf(refused.failure).includes("providers.p.capabilities.structured_outputs"));
  const capabilities = { structured_outputs: true, hosted_tools: ["mcp"] };
  assertEquals(carrierOf(strict, { capabilities }).use(AT), null);
  const hosted = (name: string) => needing(name, gated("hosted_tools"));
  assertEquals(carrierOf(hosted("mcp"), { capabilities }).use(AT), null);
  assert(carrierOf(hosted("web_search"), { capabilities }).use(AT) !== null);
});

Deno.test("a field that the gateway checks is refused with advice where it must not", () => {
  const checked = advised(verified(undefined, false), "Send less.");
  assertEquals(carrierOf(checked).use(AT, true), null);
  assertEquals(carrierOf(checked, { verify: false }).use(AT, false), null);
  const refused = carrierOf(checked, { verify: false }).use(AT, true);
  assert(refused !== null);
  assertFailed(refused, "unsupported_feature", "a.user");
  assert(messageOf(refused.failure).endsWith(" Send less."));
});

Deno.test("a row that the wire decides holds only if the wire applies it", () => {
  const carrier = carrierOf(byWire(lossy("a part")));
  assertEquals(carrier.use(AT), null);
  assertEquals(carrier.useTopLevel({ user: "u" }), null);
  assertEquals(carrier.done(), {});
  assertEquals(carrier.apply(AT), null);
  assertEquals(carrier.done(), { lossy: ["a.user"] });
  const checked = carrierOf(byWire(verified(undefined, false)), { verify: false });
  assertEquals(checked.use(AT, true), null);
  assert(checked.apply(AT) !== null);
});

Deno.test("top-level fields are refused by name, except null ones", () => {
  const carrier = carrierOf(exact);
  assertEquals(carrier.useTopLevel({ user: "u", other: null }), null);
  for (const name of ["other", "toString", "messages[user]"]) {
    const refused = carrier.useTopLevel({ user: "u", [name]: 1 });
    assert(refused !== null);
    assertFailed(refused, "unsupported_feature", name);
  }
});

Deno.test("the hosted tools that the route leaves out are known by their types", () => {
  const carrier = carrierOf(exact);
  assertEquals([carrier.omits("web_search"), carrier.omits("function"), carrier.omits(5)], [
    true,
    false,
    false,
  ]);
});

Deno.test("no more paths are recorded than a header can name, each once", () => {
  const carrier = carrierOf(exact);
  for (const path of ["a", "b", "a"]) carrier.lose(path);
  carrier.drop("b");
  assertEquals(carrier.done(), { lossy: ["b", "a"] });
  for (let count = 0; count < 300; count++) {
    carrier.lose(`a${count}`);
    carrier.drop(`b${count}`);
  }
  assertEquals(carrier.done().lossy?.length, 511);
});

Deno.test("paths are listed in the order of the request, behind those that no prompt has", () => {
  const carrier = carrierOf(exact);
  for (const path of ["tools[0]", "messages[1]", "messages[0].name", "user"]) carrier.lose(path);
  for (const path of ["tools[1]", "messages[2]"]) carrier.drop(path);
  assertEquals(carrier.done().lossy, [
    "tools[1]",
    "messages[2]",
    "user",
    "messages[0].name",
    "messages[1]",
    "tools[0]",
  ]);
});

Deno.test("the promises of a request are recorded in the order of the calls", () => {
  const carrier = carrierOf(exact);
  const single = { kind: "parallel_tool_calls", path: "p" } as const;
  const stop = { kind: "stop", path: "s", texts: ["."] } as const;
  carrier.promise(single);
  carrier.promise();
  carrier.promise(stop);
  assertEquals(carrier.done(), { promises: [single, stop] });
});

Deno.test("a value without a counterpart is refused by the path for it", () => {
  const carrier = carrierOf(exact);
  assertFailed(carrier.refuse(AT), "unsupported_feature", "a.user.type");
  assertFailed(carrier.refuse({ path: "b" }), "unsupported_feature", "b");
  assertFailed(carrier.refuseUndeclared(AT, "hosted_tools"), "unsupported_feature", "a.user.type");
});

Deno.test("a wrong, absent or contradictory value is refused by its path", () => {
  const carrier = carrierOf(exact);
  assertFailed(carrier.refuseValue("a", "must be 1"), "invalid_value", "a");
  assertFailed(carrier.refuseAbsent("b"), "missing_required_parameter", "b");
  assertFailed(carrier.refusePair("c", "No."), "invalid_parameter_combination", "c");
});
