import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { type Program, program } from "./program.ts";
import { configFile, testClient, whileServing } from "./test_terminal.ts";

const STREAM_COUNT = 8;

const WORDS = "one two three four five six seven eight";

interface Served extends Program {
  readonly url: string;
  /** Begins a stream; resolves with its text when it ends. */
  stream(model: string): Promise<{ readonly text: Promise<string> }>;
  /** `GET path`: its status, or that no connection could be made. */
  get(path: string): Promise<number | "refused">;
  /** Resolves with the exit code and the log. */
  ended(): Promise<readonly [code: number, log: string]>;
}

/** The real program over the simulator, with these settings of its server. */
async function serving(settings: string, use: (served: Served) => Promise<void>): Promise<void> {
  using client = testClient();
  await whileServing(["simulate", "--port", "0"], async (simulated) => {
    const [, upstream = ""] = await simulated.printed(/compat +(http\S+)\n/);
    using file = await configFile(`
server: {port: 0${settings}}
providers: {sim: {type: compat, base_url: "${upstream}"}}
routing: {routes: [{name: all, targets: [{provider: sim}]}]}
`);
    const running = program(["--config", file.path]);
    const { child, out, err } = running;
    const [, url = ""] = await out.until(/listens on (\S+)/) ?? [];
    await use({
      ...running,
      url,
      async stream(model) {
        const messages = [{ role: "user", content: WORDS }];
        const response = await client.fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          body: JSON.stringify({ model, stream: true, messages }),
        });
        return { text: response.text() };
      },
      async get(path) {
        // A separate client: each request needs a new connection.
        using fresh = testClient();
        try {
          const response = await fresh.fetch(url + path);
          await response.text();
          return response.status;
        } catch {
          return "refused";
        }
      },
      async ended() {
        const { code } = await child.status;
        const [, log] = await Promise.all([out.rest(), err.rest()]);
        return [code, log];
      },
    });
  });
}

function endsOf(log: string): string[] {
  return [...log.matchAll(/path=\/v1\/chat\/completions .* end=(\w+)/g)].map(([, end = ""]) => end);
}

Deno.test("shutdown finishes running streams and accepts no new connections", async () => {
  await serving("", async ({ child, err, stream, get, ended }) => {
    const streams = await Promise.all(
      Array.from({ length: STREAM_COUNT }, () => stream("sim-slow-300")),
    );
    assertEquals(await get("/ready"), 200);
    child.kill("SIGTERM");
    await err.until(/stopping/);
    let finished = 0;
    const reading = streams.map(({ text }) => text.finally(() => finished++));
    while (await get("/ready") !== "refused");
    // After the last one the process ends, and then of course nothing is taken.
    assertEquals(finished, 0, "connections are refused while the streams run");
    const texts = await Promise.all(reading);
    for (const text of texts) {
      assert(text.includes('" eight"') && text.endsWith("data: [DONE]\n\n"), text);
      assert(!text.includes('"error"'), text);
    }
    const [code, log] = await ended();
    assertEquals(code, 0);
    assertEquals(endsOf(log), Array.from({ length: STREAM_COUNT }, () => "complete"));
  });
});

Deno.test("a stream that outlasts drain_timeout ends with one failure terminal", async () => {
  await serving(", drain_timeout: 50ms", async ({ child, stream, ended }) => {
    const streams = await Promise.all(
      Array.from({ length: STREAM_COUNT }, () => stream("sim-broken-silent")),
    );
    child.kill("SIGTERM");
    for (const { text } of streams) {
      const whole = await text;
      assertEquals(whole.split('"code":"upstream_stream_error"').length, 2, whole);
      assertMatch(whole, /\}\n\ndata: \[DONE\]\n\n$/);
      assertEquals(whole.split("[DONE]").length, 2);
    }
    const [code, log] = await ended();
    assertEquals(code, 0);
    assertEquals(endsOf(log), Array.from({ length: STREAM_COUNT }, () => "drained"));
    assertMatch(log, /WARN +calls were cut off: .* calls=8\n/);
  });
});

Deno.test("requests are accepted during drain_delay, and a second signal ends all at once", async () => {
  await serving(", drain_delay: 1h", async ({ child, err, stream, get, ended }) => {
    const { text: endless } = await stream("sim-broken-silent");
    const broken = endless.then(() => "whole", () => "broken");
    child.kill("SIGTERM");
    await err.until(/stopping/);
    assertEquals([await get("/ready"), await get("/health")], [503, 200]);
    const { text } = await stream("sim-echo");
    assert((await text).endsWith("data: [DONE]\n\n"));
    child.kill("SIGINT");
    assertEquals([(await ended())[0], await broken], [130, "broken"]);
  });
});
