import { newFormParser } from "../../src/formats/multipart.ts";
import { utf8Bytes } from "../../src/formats/utf8.ts";
import { NO_PACE } from "../../src/privacy/pace.ts";
import { replaceInForm } from "../../src/privacy/replace_form.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { callWith } from "./rules.ts";

const SCOPES = { client: "a", conversation: "b" };

Deno.test("a form is read part by part, and the rest of one that takes too long is not read", async () => {
  const part = (name: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${"x ".repeat(5_000)}\r\n`;
  const body = utf8Bytes(`${part("one")}${part("two")}${part("three")}--b--\r\n`);
  const parser = newFormParser("multipart/form-data; boundary=b");
  assert(parser.ok && parser.value.push(body) === null);
  const form = parser.value.end([body]);
  assert(form.ok);
  const { subarray } = body;
  let texts = 0;
  body.subarray = (from = 0, to = body.length) => {
    if (to - from > 1_000) texts++;
    return subarray.call(body, from, to);
  };
  const privacy = callWith("find: [email], action: replace");
  const options = { pace: { ...NO_PACE, isOver: () => true }, scopes: SCOPES };
  const result = await replaceInForm(privacy, form.value, options);
  assertEquals([result.ok ? null : result.failure.kind, texts], ["privacy_search_timeout", 1]);
});
