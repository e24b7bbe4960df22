import fc from "fast-check";
import { isObject, parseJson } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { objectTexts, valueTexts } from "../../formats/json_texts.ts";
import { parseMembers } from "../../../src/formats/edit.ts";
import { encoded } from "./encoded_request.ts";

const DEFAULTS = ["temperature: 0.25", "top_p: 0.5", "normalize_developer_role: true"];
const CHANGEABLE = ["model", "temperature", "top_p", "messages", "stream_options"];

/** Returns the keys of an object with the texts of their values. */
function texts(text: string): readonly (readonly [key: string, value: string])[] {
  return parseMembers(text).map(({ key, start, end }) => [key, text.slice(start, end)] as const);
}

Deno.test("every field of any request without an edit keeps its text and position", () => {
  fc.assert(fc.property(objectTexts, (text) => {
    const kept = (all: string) => texts(all).filter(([key]) => !CHANGEABLE.includes(key));
    assertEquals(kept(encoded(text, ...DEFAULTS)), kept(text));
  }));
});

Deno.test("a request that needs no edit is sent as the same text", () => {
  fc.assert(fc.property(objectTexts, (text) => {
    const first = encoded(text);
    assertEquals(encoded(first), first);
    if (!texts(text).some(([key]) => key === "model")) {
      assertEquals(first.replace(/"model":"m",?/, ""), text);
    }
  }));
});

const roles = fc.constantFrom(
  '"developer"',
  '"system"',
  '"user"',
  '"\\u0064eveloper"',
  "null",
  "1",
);
const messages = fc.array(fc.tuple(roles, valueTexts));

Deno.test("only developer roles of messages change, for any message content", () => {
  fc.assert(fc.property(messages, (parts) => {
    const write = (roleOf: (role: string) => string) => {
      const list = parts.map(([role, content]) =>
        `{"content":${content}, "role": ${roleOf(role)}}`
      );
      return `{"model":"m","messages":[${list.join(" , ")}]}`;
    };
    const sent = encoded(write((role) => role), ...DEFAULTS);
    const expected = write((role) => parseJson(role) === "developer" ? '"system"' : role);
    assertEquals(sent.replace('"temperature":0.25,"top_p":0.5,', ""), expected);
  }));
});

Deno.test("every request is sent as JSON with the target's model and the effective sampling values", () => {
  const sampling = fc.constantFrom("", '"temperature":null,', '"temperature":0.1e1,');
  fc.assert(fc.property(objectTexts, sampling, (text, asked) => {
    const open = text.indexOf("{") + 1;
    const members = texts(text);
    if (members.length === 0 || members.some(([key]) => key === "temperature")) return;
    const sent = parseJson(encoded(text.slice(0, open) + asked + text.slice(open), ...DEFAULTS));
    assert(isObject(sent));
    assertEquals(sent.model, "m");
    assertEquals(sent.temperature, asked.includes("e1") ? 1 : 0.25);
  }));
});
