import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { NOTICES_EARLY_LEAVE } from "../support/runtime.ts";
import { testClient, whileServing } from "./test_terminal.ts";

const PROVIDERS = ["compat", "messages", "local"];
const LISTENS = /listens on (http:\/\/127\.0\.0\.1:\d+)\n/;

Deno.test("the demo sends a request to each provider type and prints its text, a response with a follow-up and a message", async () => {
  const { code, out, err } = await whileServing(["demo", "--port", "0"], async (terminal) => {
    await terminal.printed(/Ctrl-C ends/);
  });
  assertEquals(code, 0);
  // Only a runtime that hides clients that leave is worth a word.
  assertEquals(/\bWARN\b.* 2\.7\.11\n$/.test(err), !NOTICES_EARLY_LEAVE);
  assertEquals(err.split("\n").length, NOTICES_EARLY_LEAVE ? 1 : 2);
  const [, question = ""] = /Question: (.*)\n/.exec(out) ?? [];
  assert(question.length > 0);
  for (const provider of PROVIDERS) {
    assertStringIncludes(out, `\n  ${`${provider}:`.padEnd(10)}${question}\n`);
    assertStringIncludes(
      out,
      `\n  ${`${provider}:`.padEnd(10)}calls weather({"city":"text"}), ` +
        'receives "sunny", answers: The tools said "sunny".\n',
    );
    const greeting = "Say hello to the Messages API.";
    assertStringIncludes(
      out,
      `\n  ${`${provider}:`.padEnd(10)}thinks "The user says: ${greeting}", says "${greeting}"\n`,
    );
  }
});

Deno.test("the demo serves each provider by name, all of them in turn, and what it prints", async () => {
  using client = testClient();
  await whileServing(["demo", "--port", "0"], async (terminal) => {
    const [, url = ""] = await terminal.printed(LISTENS);
    const ask = async (model: string) => {
      const messages = [{ role: "user", content: "good day" }];
      const answer = await client.fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        body: JSON.stringify({ model, messages }),
      });
      assertStringIncludes(await answer.text(), '"content":"good day"');
      return answer.headers.get("x-gateway-provider");
    };
    for (const provider of PROVIDERS) assertEquals(await ask(`${provider}/sim-echo`), provider);
    const inTurn = [await ask("sim-echo"), await ask("sim-echo"), await ask("sim-echo")];
    assertEquals(inTurn.toSorted(), PROVIDERS.toSorted());
    await terminal.printed(/Ctrl-C ends/);
    const answers: [number, string][] = [];
    for (
      const [, address = "", body = ""] of terminal.written.out.matchAll(
        /curl(?: -N)? (\S+) -d '(.*)'/g,
      )
    ) {
      const answer = await client.fetch(address, { method: "POST", body });
      answers.push([answer.status, await answer.text()]);
    }
    assertEquals(answers.map(([status]) => status), [
      ...[200, 200, 200, 200, 200, 200, 200],
      ...[400, 200, 200, 200],
      ...[200, 200],
    ]);
    // Clients of these endpoints name no provider.
    for (
      const [path, body] of [
        ["moderations", { input: "x" }],
        ["images/generations", { prompt: "x" }],
        ["completions", { model: "sim-echo", prompt: "x" }],
        ["rerank", { model: "sim-echo", query: "x", documents: ["x"] }],
        ["audio/speech", { model: "sim-echo", input: "x", voice: "v" }],
      ] as const
    ) {
      const sent = { method: "POST", body: JSON.stringify(body) };
      const answer = await client.fetch(`${url}/v1/${path}`, sent);
      await answer.bytes();
      assertEquals([answer.status, answer.headers.get("x-gateway-provider")], [200, "native"]);
    }
    assertStringIncludes(answers.at(-2)?.[1] ?? "", "RIFF");
    assertStringIncludes(answers.at(-1)?.[1] ?? "", '"b64_json":"iVBOR');
    assertStringIncludes(answers[2]?.[1] ?? "", '"tool_calls":[');
    assertStringIncludes(answers[3]?.[1] ?? "", '"text":"Say hello."');
    assertStringIncludes(answers[4]?.[1] ?? "", '"text":"And tomorrow?"');
    const kept = await client.fetch(`${url}/v1/responses/${idIn(answers[5]?.[1])}`);
    assertStringIncludes(await kept.text(), '"status":"in_progress"');
    const stored = await client.fetch(`${url}/v1/chat/completions`);
    assertStringIncludes(await stored.text(), `"data":[{"id":"${idIn(answers[6]?.[1])}"`);
    assertStringIncludes(answers[8]?.[1] ?? "", "upstream_stream_error");
  });
});

Deno.test("the demo prints how Claude Code is set up and serves its model names over each type", async () => {
  using client = testClient();
  await whileServing(["demo", "--port", "0"], async (terminal) => {
    const lines =
      /SWITCHYARD_KEY=(\S+)\neval "\$\(switchyard agent claude --url (http\S+) --model claude-opus\)"\nclaude\n/;
    const [, token = "", url = ""] = await terminal.printed(lines);
    const answeredBy = async (model: string) => {
      const answer = await client.fetch(`${url}/v1/messages?beta=true`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "anthropic-version": "2023-06-01" },
        body: JSON.stringify({
          model,
          max_tokens: 100,
          messages: [{ role: "user", content: "good day" }],
          output_config: { effort: "medium" },
        }),
      });
      assertStringIncludes(await answer.text(), '"text":"good day"');
      return answer.headers.get("x-gateway-provider");
    };
    assertEquals(await answeredBy("claude-opus-5-5"), "messages");
    assertEquals(await answeredBy("claude-sonnet-5-5"), "compat");
    assertEquals(await answeredBy("claude-3-5-haiku-20241022"), "local");
    await terminal.printed(/Ctrl-C ends/);
  });
});

function idIn(json = ""): string {
  return /"id":"([^"]+)"/.exec(json)?.[1] ?? "";
}

Deno.test("a signal during the calls of the demo ends it at once", async () => {
  const { code, out } = await whileServing(["demo", "--port", "0"], async (terminal) => {
    await terminal.printed(/compat: +Please/);
  });
  assertEquals(code, 0);
  assert(!out.includes("Ctrl-C ends"));
});

Deno.test("simulate prints an address and the models of each provider type", async () => {
  using client = testClient();
  const { code } = await whileServing(["simulate", "--port", "0"], async (terminal) => {
    const [, base = ""] = await terminal.printed(/compat +(http\S+)\n/);
    await terminal.printed(/messages +http\S+\/messages \(with any api_key\)\n/);
    await terminal.printed(/local +http\S+\/local\n/);
    await terminal.printed(/\n {2}sim-echo\n/);
    assertStringIncludes(await (await client.fetch(`${base}/models`)).text(), "sim-echo");
  });
  assertEquals(code, 0);
});
