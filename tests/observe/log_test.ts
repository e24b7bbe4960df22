import { accessFields } from "../../src/observe/access_log.ts";
import { isObject, parseJson } from "../../src/core/json/json.ts";
import { type Fields, type Line, type LogSettings, newLog, textOf } from "../../src/observe/log.ts";
import { fault } from "../../src/core/failure/result.ts";
import fc from "fast-check";
import { anyCharacter } from "../support/any_character.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { chatRequest, got } from "../support/chat_call.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { reportOf, tryOf, USAGE } from "./reports.ts";

const clock = () => new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 6));

function lineOf(settings: Partial<LogSettings>, msg: string, fields: Fields = {}): string {
  const lines: string[] = [];
  const log = newLog({ level: "debug", format: "console", ...settings }, push, clock);
  log.info(msg, fields);
  assertEquals(lines.length, 1);
  return lines.join("");

  function push(line: Line) {
    lines.push(textOf(line));
  }
}

Deno.test("a JSON line is one object with time, level, msg and the fields that are there", () => {
  const line = lineOf({ format: "json" }, "request", { a: 1, b: null, c: undefined, d: "x", e: 0 });
  assertEquals(
    line,
    '{"time":"2026-01-02T03:04:05.006Z","level":"info","msg":"request","a":1,"d":"x","e":0}\n',
  );
});

Deno.test("a console line is aligned, and coloured only if colours are enabled", () => {
  const fields = { path: "/v1/models", status: 200, said: "two words", quote: '"' };
  const rest = ' request path=/v1/models status=200 said="two words" quote="\\""\n';
  assertEquals(lineOf({}, "request", fields), `2026-01-02T03:04:05.006Z INFO ${rest}`);
  assertEquals(
    lineOf({ isColoured: true }, "request", fields),
    `2026-01-02T03:04:05.006Z \x1b[36mINFO \x1b[0m${rest}`,
  );
  assert(!lineOf({ format: "json", isColoured: true }, "request", fields).includes("\x1b"));
});

Deno.test("a log level includes the more severe levels", () => {
  const written = (level: LogSettings["level"]) => {
    const words: string[] = [];
    const log = newLog({ level, format: "json" }, (line) => {
      const value = parseJson(textOf(line));
      if (isObject(value) && typeof value.level === "string") words.push(value.level);
    });
    for (const one of ["debug", "info", "warn", "error"] as const) log[one]("said");
    return words.join();
  };
  assertEquals(written("debug"), "debug,info,warn,error");
  assertEquals(written("info"), "info,warn,error");
  assertEquals(written("warn"), "warn,error");
  assertEquals(written("error"), "error");
});

Deno.test("texts in a log line are escaped and truncated", () => {
  const nasty = fc.string({ unit: anyCharacter, maxLength: 3_000 });
  const hidden = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
  fc.assert(fc.property(nasty, nasty, (path, model) => {
    for (const format of ["json", "console"] as const) {
      const line = lineOf({ format }, "request", { path, model });
      assert(line.endsWith("\n") && !hidden.test(line.slice(0, -1)));
      // Every unit may be escaped by its four digits.
      assert(line.length < 2 * 1_002 * 6 + 200, `${line.length} characters`);
    }
  }));
  for (
    const text of ["\r\nINFO forged", "\x1b[2J", "\x9b2J", "\u2028", "\u202egnp.exe", "\ud800"]
  ) {
    const line = lineOf({ format: "json" }, "request", { path: text });
    assert(!hidden.test(line.slice(0, -1)) && line.isWellFormed());
    const value = parseJson(textOf(line));
    assertEquals(isObject(value) ? value.path : null, text);
  }
});

Deno.test("an access line has client, request, provider and end of a call", () => {
  const fields = accessFields(reportOf({
    client: "team-a",
    session: "chat-7",
    sessionFrom: "codex",
    stream: true,
    cache: "MISS",
    cacheBreakpoints: 4,
    usage: USAGE,
    fallbacks: 1,
    queuedMs: 5.26,
    customCalls: 2,
    provider: "other",
    attempts: [
      tryOf({ outcome: "upstream_timeout" }),
      tryOf({ outcome: "upstream_timeout", number: 2 }),
      tryOf({ provider: "other" }),
    ],
    ms: { earlyHead: null, firstByte: 10.04, firstToken: 10.04, upstream: 9, total: 20.26 },
  }));
  assertEquals<unknown>(fields, {
    request_id: "id-1",
    method: "POST",
    path: "/v1/chat/completions",
    status: 200,
    client: "team-a",
    issuer: null,
    template: null,
    end_user: null,
    client_secret: null,
    session: "chat-7",
    session_from: "codex",
    route: "main",
    provider: "other",
    provider_key: null,
    model: "m",
    stream: true,
    duration_ms: 20.3,
    ttft_ms: 10,
    early_head_ms: null,
    held: null,
    recorded: null,
    queued_ms: 5.3,
    tokens_in: 1_000,
    tokens_out: 50,
    tokens_estimated: null,
    cost_unknown: null,
    custom_calls: 2,
    cache: "MISS",
    cache_breakpoints: 4,
    redacted: null,
    redacted_out: null,
    unread: null,
    restored: null,
    unknown_tokens: null,
    retries: 1,
    fallback: true,
    tries: "up:upstream_timeout,up:upstream_timeout,other:success",
    upstream_cause: null,
    end: "complete",
    trace_id: null,
    span_id: null,
  });
});

Deno.test("a session that a client names is in its access line, escaped and at most 256 characters long", async () => {
  const { app, log } = testGateway(oneProvider("http://up"), scriptedWorld());
  const sessionOf = async (name?: string) => {
    const headers = name === undefined ? {} : { "x-gateway-sessionid": name };
    await got(await app(chatRequest({ headers, body: { messages: [] } })));
    const line = log.at(-1) ?? "";
    assert(/^[\x20-\x7e\xa0-\xff]*\n$/.test(line), line);
    const fields = parseJson(textOf(line));
    return isObject(fields) ? fields.session : null;
  };
  assertEquals(await sessionOf('chat "7"'), 'chat "7"');
  assertEquals(await sessionOf("\x9b2J"), "\x9b2J");
  assertEquals(await sessionOf("s".repeat(256)), "s".repeat(256));
  assertMatch(String(await sessionOf("s".repeat(257))), /^[0-9a-f]{64}$/);
  assertEquals(await sessionOf(""), undefined);
  assertEquals(await sessionOf(), undefined);
});

Deno.test("the end of a call is one word of a closed list", () => {
  const ends = (kind: Parameters<typeof fault>[0], brokeOff = false) =>
    accessFields(reportOf({ failure: fault(kind, "Trouble.").failure, brokeOff })).end;
  assertEquals(ends("client_cancelled"), "client_gone");
  assertEquals(ends("upstream_throttled"), "upstream_status");
  assertEquals(ends("upstream_unreachable"), "upstream_unreachable");
  assertEquals(ends("upstream_unreachable", true), "stream_broken");
  assertEquals(ends("upstream_timeout"), "upstream_timeout");
  assertEquals(ends("upstream_idle", true), "stream_idle");
  assertEquals(ends("invalid_upstream_response"), "upstream_invalid");
  assertEquals(ends("circuit_open"), "circuit_open");
  assertEquals(ends("no_route"), "refused");
  assertEquals(ends("internal_error"), "internal");
});

Deno.test("a line that waits for its reader holds no more of a path and a model than it shows", () => {
  const long = "m".repeat(1_000_000);
  const report = { ...reportOf({}), path: `/v1/${long}`, model: long };
  const { path, model } = accessFields(report);
  assertEquals([path.length, model?.length], [1_001, 1_001]);
  const lines: string[] = [];
  const log = newLog({ level: "info", format: "json" }, (line) => void lines.push(textOf(line)));
  log.info("request", { model });
  log.info("request", { model: long });
  assertEquals(lines.map((line) => JSON.parse(line).model), [
    `${"m".repeat(1_000)}…`,
    `${"m".repeat(1_000)}…`,
  ]);
});
