import { VERSION } from "../../src/core/build.ts";
import { newLog, textOf } from "../../src/observe/log.ts";
import { newReleaseCheck } from "../../src/remote/release_check.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

const DAY_MS = 86_400_000;
const SETTINGS = { endpoint: "https://releases.example/check", interval: DAY_MS, timeout: 3_000 };

/** A running check whose questions are answered like this. */
function checking(
  answer: (signal: AbortSignal | null | undefined) => Promise<Response>,
  settings = SETTINGS,
) {
  const asked: { readonly url: string; readonly init: RequestInit }[] = [];
  const lines: string[] = [];
  const world = scriptedWorld({
    fetch(url, init) {
      asked.push({ url, init });
      return answer(init.signal);
    },
  });
  const log = newLog({ level: "debug", format: "json" }, (line) => void lines.push(textOf(line)));
  const check = newReleaseCheck(settings, { world, log });
  return { asked, lines, world, check };
}

function answering(text: string, status = 200) {
  return () => Promise.resolve(new Response(text, { status }));
}

Deno.test("the first release check is sent after 30 s, later ones after each interval", async () => {
  const { asked, world, check } = checking(answering(JSON.stringify({ version: VERSION })));
  await world.advance(29_999);
  assertEquals(asked.length, 0);
  await world.advance(1);
  assertEquals(asked.length, 1);
  await world.advance(DAY_MS - 1);
  assertEquals(asked.length, 1);
  await world.advance(1);
  assertEquals(asked.length, 2);
  await check.close();
  await world.advance(3 * DAY_MS);
  assertEquals([asked.length, world.waiting], [2, 0]);
});

Deno.test("an interval may be longer than the maximum timer of the platform", async () => {
  const interval = 10_000 * 3_600_000;
  const answer = answering(JSON.stringify({ version: VERSION }));
  const { asked, world, check } = checking(answer, { ...SETTINGS, interval });
  await world.advance(30_000);
  await world.advance(interval - 1);
  assertEquals(asked.length, 1);
  await world.advance(1);
  assertEquals(asked.length, 2);
  await check.close();
});

Deno.test("version and CPU type are all that is sent, and no redirect is followed", async () => {
  const { asked, world, check } = checking(answering("", 302));
  await world.advance(30_000);
  const [{ url, init } = { url: "", init: {} }] = asked;
  assertEquals(url, SETTINGS.endpoint);
  assert(init.body instanceof Uint8Array);
  assertEquals(JSON.parse(new TextDecoder().decode(init.body)), {
    version: VERSION,
    arch: Deno.build.arch,
  });
  assertEquals<unknown>(init.headers, {
    "user-agent": "switchyard",
    "accept-encoding": "identity",
    "content-type": "application/json",
  });
  assertEquals([init.method, init.redirect], ["POST", "manual"]);
  assertEquals(asked.length, 1);
  await check.close();
});

Deno.test("a newer version is one line in the log, once", async () => {
  const { lines, world, check } = checking(answering('{"version":"900.1.0","more":true}'));
  await world.advance(30_000 + 2 * DAY_MS);
  const logged = lines.filter((line) => line.includes('"level":"info"'));
  assertEquals(logged.length, 1);
  assert(logged[0]?.includes('"msg":"a newer version is available","version":"900.1.0"'));
  await check.close();
});

Deno.test("any other response to the release check logs nothing", async () => {
  const long = `{"version":"900.1.0","more":"${"x".repeat(4_096)}"}`;
  const wrong = ["", "garbage", "[]", '{"version":900}', '{"version":"latest"}', long];
  for (const text of [...wrong, '{"version":"0.0.1"}', JSON.stringify({ version: VERSION })]) {
    const { lines, world, check } = checking(answering(text));
    await world.advance(30_000);
    assertEquals(lines.filter((line) => !line.includes('"level":"debug"')), [], text);
    await check.close();
  }
  for (const status of [302, 404, 500]) {
    const { lines, world, check } = checking(answering('{"version":"900.1.0"}', status));
    await world.advance(30_000);
    assertEquals(lines.length, 1);
    assert(lines[0]?.includes(`"reason":"status ${status}"`));
    await check.close();
  }
});

Deno.test("at most 4 KiB of a release check response are read", async () => {
  let isCancelled = false;
  let sent = 0;
  const endless = () =>
    new ReadableStream({
      pull(controller) {
        sent += 1_000;
        controller.enqueue(new Uint8Array(1_000).fill(32));
      },
      cancel() {
        isCancelled = true;
      },
    }, { highWaterMark: 0 });
  const { world, check } = checking(() => Promise.resolve(new Response(endless())));
  await world.advance(30_000);
  assertEquals([isCancelled, sent], [true, 5_000]);
  await check.close();
});

Deno.test("a release check that times out is sent again at the next interval", async () => {
  let hanging = 0;
  const { asked, lines, world, check } = checking((signal) => {
    hanging++;
    return new Promise((_, reject) => {
      signal?.addEventListener("abort", () => {
        hanging--;
        reject(new DOMException("aborted", "AbortError"));
      });
    });
  });
  await world.advance(32_999);
  assertEquals([hanging, lines.length], [1, 0]);
  await world.advance(1);
  assertEquals([hanging, lines.length], [0, 1]);
  await world.advance(DAY_MS);
  assertEquals(asked.length, 2);
  const closed = check.close();
  assertEquals(hanging, 0);
  await closed;
});

Deno.test("a release check whose body stalls times out", async () => {
  let isCancelled = false;
  const stopped = new ReadableStream({ cancel: () => void (isCancelled = true) });
  const { lines, world, check } = checking(() => Promise.resolve(new Response(stopped)));
  await world.advance(33_000);
  assertEquals([isCancelled, lines.length], [true, 1]);
  await check.close();
});
