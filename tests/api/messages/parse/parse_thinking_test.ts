import type { JsonObject, JsonValue } from "../../../../src/core/json/json.ts";
import type { WireName } from "../../../../src/wires/wire.ts";
import { assertEquals } from "../../../support/assert.ts";
import { valueOf, type Written } from "../../../support/translated.ts";
import { ABLE, encodeFor, refusalOf, TRANSLATED, translateFields } from "../translated.ts";

/** Capabilities with these levels of effort. */
function withLevels(...levels: readonly string[]): Written {
  return { capabilities: { reasoning_effort: true, reasoning_effort_levels: levels } };
}

/** The effort that is sent, how thinking is shown, and what is named as carried in part. */
function decided(fields: JsonObject, wire: WireName = "compat", written: Written = {}) {
  const { chat, thinking, lossy } = valueOf(translateFields(fields, wire, written));
  return [chat.document.value.reasoning_effort ?? null, thinking, lossy] as const;
}

function sentBy(fields: JsonObject, wire: WireName, written: Written = {}): JsonObject {
  return JSON.parse(valueOf(encodeFor(fields, wire, written)).text);
}

const ENABLED = (budget_tokens: JsonValue) => ({ type: "enabled", budget_tokens });
const EFFORT = "This model does not support the effort parameter.";

Deno.test("adaptive thinking is accepted by every target and asks for nothing", () => {
  for (const wire of TRANSLATED) {
    for (const written of [{}, ABLE]) {
      assertEquals(decided({ thinking: { type: "adaptive" } }, wire, written), [null, "shown", []]);
      assertEquals(decided({}, wire, written), [null, "shown", []]);
    }
  }
});

Deno.test("thinking is shown with display summarized, absent or null, and only sealed with omitted or updates", () => {
  for (
    const [display, shown] of [["summarized", "shown"], [null, "shown"], ["omitted", "sealed"], [
      "updates",
      "sealed",
    ]] as const
  ) {
    assertEquals(decided({ thinking: { type: "adaptive", display } })[1], shown);
    assertEquals(decided({ thinking: { ...ENABLED(1024), display } })[1], shown);
  }
  assertEquals(
    refusalOf(translateFields({ thinking: { type: "adaptive", display: "full" } }))[2],
    "thinking.display: Input should be 'summarized', 'omitted' or 'updates'",
  );
});

Deno.test("disabled thinking is the effort none where the provider lists it", () => {
  for (const wire of ["compat", "responses"] as const) {
    assertEquals(decided({ thinking: { type: "disabled" } }, wire, withLevels("none", "low")), [
      "none",
      "hidden",
      [],
    ]);
  }
});

Deno.test("disabled thinking is not shown where the provider has no such level, and is named", () => {
  for (const wire of ["compat", "responses"] as const) {
    for (const written of [{}, ABLE, withLevels("low")]) {
      assertEquals(decided({ thinking: { type: "disabled" } }, wire, written), [null, "hidden", [
        "thinking.type",
      ]]);
    }
  }
});

Deno.test("disabled thinking is think false at a local runtime", () => {
  assertEquals(sentBy({ thinking: { type: "disabled" } }, "local").think, false);
  assertEquals(decided({ thinking: { type: "disabled" } }, "local"), [null, "hidden", []]);
});

Deno.test("disabled thinking outweighs an effort, which is then named", () => {
  const fields = { thinking: { type: "disabled" }, output_config: { effort: "high" } };
  assertEquals(sentBy(fields, "local", ABLE).think, false);
  assertEquals(decided(fields, "local", ABLE)[2], ["output_config.effort"]);
  assertEquals(decided(fields, "compat", withLevels("none", "high")), ["none", "hidden", [
    "output_config.effort",
  ]]);
  assertEquals(decided(fields, "compat", ABLE), ["high", "hidden", ["thinking.type"]]);
});

Deno.test("the budget of enabled thinking chooses the effort where the provider declares it", () => {
  const efforts = [[1024, "low"], [4096, "low"], [4097, "medium"], [16384, "medium"], [
    16385,
    "high",
  ], [31999, "high"]] as const;
  for (const [budget, effort] of efforts) {
    for (const wire of TRANSLATED) {
      assertEquals(decided({ thinking: ENABLED(budget) }, wire, ABLE), [effort, "shown", [
        "thinking.budget_tokens",
      ]]);
    }
  }
});

Deno.test("an effort of the client outweighs the budget", () => {
  const fields = { thinking: ENABLED(1024), output_config: { effort: "high" } };
  assertEquals(decided(fields, "compat", ABLE), ["high", "shown", ["thinking.budget_tokens"]]);
});

Deno.test("enabled thinking sends nothing where no effort is declared, and the budget is named", () => {
  for (const wire of ["compat", "responses"] as const) {
    assertEquals(decided({ thinking: ENABLED(1024) }, wire), [null, "shown", [
      "thinking.budget_tokens",
    ]]);
    assertEquals(decided({ thinking: ENABLED(1024) }, wire, withLevels("xhigh"))[0], null);
  }
});

Deno.test("enabled thinking is think true at a local runtime without effort, else the level of the budget", () => {
  assertEquals(sentBy({ thinking: ENABLED(31999) }, "local").think, true);
  assertEquals(sentBy({ thinking: ENABLED(31999) }, "local", ABLE).think, "high");
  assertEquals("think" in sentBy({ thinking: { type: "adaptive" } }, "local"), false);
});

Deno.test("enabled thinking without a budget is refused", () => {
  assertEquals(
    refusalOf(translateFields({ thinking: { type: "enabled" } }))[2],
    "thinking.budget_tokens: Field required",
  );
  assertEquals(refusalOf(translateFields({ thinking: ENABLED("9") }))[0], "invalid_type");
});

Deno.test("thinking between_tools is refused", () => {
  assertEquals(refusalOf(translateFields({ thinking: { type: "between_tools" } })), [
    "unsupported_feature",
    "thinking.type",
    "thinking.type: between_tools is not supported",
  ]);
  assertEquals(refusalOf(translateFields({ thinking: { type: "x" } }))[0], "invalid_value");
  assertEquals(
    refusalOf(translateFields({ thinking: { type: "adaptive", depth: 1 } }))[2],
    "thinking.adaptive.depth: Extra inputs are not permitted",
  );
});

Deno.test("an effort is sent where it is declared: low, medium and high, others only when listed", () => {
  for (const wire of TRANSLATED) {
    for (const effort of ["low", "medium", "high"]) {
      assertEquals(decided({ output_config: { effort } }, wire, ABLE)[0], effort);
    }
    assertEquals(
      refusalOf(translateFields({ output_config: { effort: "max" } }, wire, ABLE))[2],
      EFFORT,
    );
    assertEquals(decided({ output_config: { effort: "max" } }, wire, withLevels("max"))[0], "max");
    assertEquals(
      refusalOf(translateFields({ output_config: { effort: "low" } }, wire, withLevels("max")))[2],
      EFFORT,
    );
  }
  assertEquals(
    decided({ output_config: { effort: "xhigh" } }, "compat", withLevels("xhigh"))[0],
    "xhigh",
  );
  assertEquals(
    refusalOf(
      translateFields({ output_config: { effort: "xhigh" } }, "local", withLevels("xhigh")),
    )[2],
    EFFORT,
  );
});

Deno.test("an effort where none is declared is refused with the sentence that clients repair by", () => {
  for (const wire of TRANSLATED) {
    assertEquals(refusalOf(translateFields({ output_config: { effort: "medium" } }, wire)), [
      "unsupported_feature",
      "output_config.effort",
      EFFORT,
    ]);
  }
  assertEquals(
    refusalOf(translateFields({ output_config: { effort: "huge" } }, "compat", ABLE))[2],
    "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
  );
});

/** A dialogue whose system messages set these efforts. */
function withEfforts(...efforts: readonly string[]): JsonObject {
  const set = efforts.map((effort) => ({
    role: "system",
    content: "S",
    output_config: { effort },
  }));
  return { messages: [{ role: "user", content: "hi" }, ...set] };
}

Deno.test("the effort of the last system message that has one counts for the answer", () => {
  const messages = withEfforts("low", "high");
  assertEquals(decided({ ...messages, output_config: { effort: "medium" } }, "compat", ABLE), [
    "high",
    "shown",
    [],
  ]);
  assertEquals(decided(messages, "local", ABLE)[0], "high");
});

Deno.test("an effort of a message alone is dropped and named where none is declared", () => {
  for (const wire of TRANSLATED) {
    assertEquals(decided(withEfforts("low", "medium"), wire), [
      null,
      "shown",
      ["messages.2.output_config.effort"],
    ]);
  }
  assertEquals(
    decided({ ...withEfforts("max"), output_config: { effort: "low" } }, "compat", ABLE),
    ["low", "shown", ["messages.1.output_config.effort"]],
  );
});

Deno.test("a client that repairs its effort by the sentence is refused exactly once", () => {
  const first = { ...withEfforts("medium"), output_config: { effort: "medium" } };
  assertEquals(refusalOf(translateFields(first))[2], EFFORT);
  assertEquals(translateFields(withEfforts("medium")).ok, true);
});
