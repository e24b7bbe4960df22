import { packageFor } from "../../../../scripts/clients/agent/binary.ts";
import type { Exchange } from "../../../../scripts/clients/agent/exchange.ts";
import { blocksOf, memberOf, resultsOf } from "../../../../scripts/clients/agent/exchange.ts";
import { parseArguments } from "../../../../scripts/clients/agent/main.ts";
import { openPlace } from "../../../../scripts/clients/agent/place.ts";
import { SENTENCE_USES } from "../../../../scripts/clients/agent/repairs.ts";
import {
  differences,
  KEY,
  pageOf,
  PROVIDER_TYPES,
  type Results,
  RESULTS_FILE,
  tableOf,
  type Verdict,
  VERSION,
} from "../../../../scripts/clients/agent/results.ts";
import { parseOutput, type Seen, USUAL } from "../../../../scripts/clients/agent/session.ts";
import { DONE, once, planned, USES } from "../../../../scripts/clients/agent/uses.ts";
import { VERIFIED_WITH } from "../../../../src/api/messages/sentences.ts";
import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assert, assertEquals, assertStringIncludes } from "../../../support/assert.ts";
import { pageText } from "../../../docs/pages.ts";

function exchange(body: JsonObject, status = 200): Exchange {
  return { path: "/v1/messages", headers: new Headers(), body, status, lossy: null };
}

function seen(result: string, exchanges: readonly Exchange[]): Seen {
  return { records: [], result, exchanges, received: [], rest: "" };
}

Deno.test("the records of Claude Code are read line by line, and its last result is the text of a session", () => {
  const output = [
    '{"type":"system","subtype":"init"}',
    "a warning",
    '{"type":"result","result":"First."}',
    "",
    '{"type":"result","result":"Last."}',
  ].join("\n");
  const { records, result, rest } = parseOutput(output);
  assertEquals([records.length, result, rest], [3, "Last.", "a warning"]);
  assertEquals(parseOutput("").result, "");
});

Deno.test("blocks within results, members and errors of tools are found in a request", () => {
  const image = { type: "image", source: {} };
  const request = {
    thinking: { type: "adaptive" },
    messages: [
      { role: "user", content: "Hi" },
      {
        role: "user",
        content: [
          { type: "tool_result", content: [{ type: "text", text: "one" }, image] },
          { type: "tool_result", content: "Exit code 3", is_error: true },
        ],
      },
    ],
  };
  assertEquals(blocksOf(request).map(({ type }) => type), [
    "tool_result",
    "text",
    "image",
    "tool_result",
  ]);
  assertEquals(resultsOf(request), [
    { text: "one", isError: false },
    { text: "Exit code 3", isError: true },
  ]);
  assertEquals(memberOf(request, "thinking", "type"), "adaptive");
  assertEquals(memberOf(request, "output_config", "effort"), null);
});

Deno.test("the arguments of the script are a text, a client and flags; any other is refused", () => {
  assertEquals(parseArguments(["tool", "--binary", "/usr/bin/claude", "--write"]), {
    text: "tool",
    binary: "/usr/bin/claude",
    write: true,
    inside: false,
  });
  assertEquals(parseArguments(["--binary"]), null);
  assertEquals(parseArguments(["--wirte"]), null);
});

Deno.test("the package of Claude Code follows the platform", () => {
  const name = "@anthropic-ai/claude-code";
  assertEquals(packageFor({ os: "linux", arch: "x86_64" }), `${name}-linux-x64`);
  assertEquals(packageFor({ os: "darwin", arch: "aarch64" }), `${name}-darwin-arm64`);
  assertEquals(packageFor({ os: "freebsd", arch: "x86_64" }), null);
});

Deno.test("a use passes only if the session ends with its plan and nothing was refused", () => {
  const [text] = USES;
  assertEquals(text?.check(seen(DONE, [exchange({})]), "compat"), "pass");
  assertEquals(
    text?.check(seen(DONE, [exchange({}, 400), exchange({})]), "compat"),
    `fail: ${DONE} (400 200)`,
  );
  assertEquals(text?.check(seen("", []), "compat"), "fail: no result ()");
});

Deno.test("a sentence passes only if the client has sent the feature and leaves it out then", () => {
  const repair = SENTENCE_USES.find(({ title }) => title.includes("context_management"));
  const edits = exchange({ context_management: {} }, 400);
  const check = (exchanges: readonly Exchange[]) => repair?.check(seen(DONE, exchanges), "compat");
  assertEquals(check([edits, exchange({})]), "pass");
  assertEquals(check([edits, edits, exchange({})]), "pass: after 2 refusals");
  assertEquals(check([exchange({})]), "fail: the client did not send it");
  assertEquals(check([edits]), `fail: ${DONE} (400)`);
});

Deno.test("results become a table with one column for each provider type", () => {
  const rows = [{ title: "a | b", verdicts: { compat: "pass", messages: "fail: x" } }] as const;
  assertEquals(
    tableOf("use", rows),
    [
      "| use | messages | compat | local | responses |",
      "| --- | --- | --- | --- | --- |",
      "| a \\| b | fail: x | pass | does not apply | does not apply |",
    ].join("\n"),
  );
});

Deno.test("the documentation has the results of every row with the pinned client, and none fails", async () => {
  const results: Results = JSON.parse(await Deno.readTextFile(RESULTS_FILE));
  assertStringIncludes(pageText("docs/guide/messages.md"), pageOf(results));
  assertEquals(results.uses.map(({ title }) => title), USES.map(({ title }) => title));
  const titles = SENTENCE_USES.map(({ title }) => title);
  assertEquals(results.sentences.map(({ title }) => title), titles);
  const verdicts = [...results.uses, ...results.sentences]
    .flatMap((row) => Object.values(row.verdicts));
  assertEquals(verdicts.filter((verdict) => !verdict.startsWith("pass")), []);
  assertEquals(results.version, VERSION);
  assertEquals(VERIFIED_WITH, `Claude Code ${VERSION}`);
});

for (const type of PROVIDER_TYPES) {
  Deno.test(`a session over ${type} is recorded, and its faults reach the client once`, async () => {
    const faults = once({ status: 529, message: "Overloaded" });
    await using place = openPlace(type, { ...USUAL, faults });
    const send = async (key: string) => {
      const response = await fetch(`${place.url}/v1/messages?beta=true`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "anthropic-version": "2023-06-01" },
        body: JSON.stringify({
          model: "claude-opus-5-5",
          max_tokens: 100,
          messages: [{ role: "user", content: planned(DONE) }],
        }),
      });
      return await response.text();
    };
    assertStringIncludes(await send(KEY), "Overloaded");
    assertStringIncludes(await send(KEY), DONE);
    assertStringIncludes(await send("sk-other"), "authentication_error");
    assertEquals(place.exchanges.map(({ status }) => status), [529, 200, 401]);
    assertEquals(place.received.length, 2);
    assert(place.received.every((body) => body.includes("sim-plan")));
  });
}

Deno.test("a verdict of Claude Code that is not that of the results is named, and a row that is not run is none", () => {
  const row = (compat: Verdict, title = "text") => ({ title, verdicts: { compat } });
  assertEquals(differences([row("pass")], [row("pass"), row("pass", "other")]), []);
  assertEquals(differences([row("pass: late")], [row("pass")]), [
    "text over compat: pass: late; expected: pass",
  ]);
  assertEquals(differences([row("pass")], []), ["text over compat: pass; expected: nothing"]);
});
