import { clientApis } from "../../../src/api/registry.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { runOnce } from "./run_once.ts";

Deno.test("a round of the soak uses every endpoint, and no answer of a healthy gateway is altered", async () => {
  const { problems, seen } = await runOnce(/./);
  assertEquals(problems, []);
  const endpoints = clientApis.flatMap((api) =>
    api.endpoints.map(({ method, path }) => `${method} ${path}`)
  );
  assert(endpoints.length > 40);
  const patternOf = (endpoint: string) =>
    new RegExp(`^${endpoint.split(/:\w+(?:\{[^}]*\})?|\{[^}]*\}/).map(RegExp.escape).join(".+")}$`);
  const isUsed = (endpoint: string) => [...seen].some((one) => patternOf(endpoint).test(one));
  assertEquals(endpoints.filter((endpoint) => !isUsed(endpoint)), []);
});

Deno.test("the longest use of the soak, files with batches and uploads, has up to 22 requests", async () => {
  const { requests } = await runOnce(/^files, /);
  assertEquals(requests, 22);
  const main = new URL("../../../scripts/soak/main.ts", import.meta.url);
  assertMatch(await Deno.readTextFile(main), new RegExp(`has up to ${requests} requests\\n`));
});

for (const api of ["chat", "responses", "messages"]) {
  for (const kind of ["JSON", "stream"]) {
    Deno.test(`a soak notices one other letter in a ${api} ${kind} answer`, async () => {
      const { problems } = await runOnce(
        new RegExp(`^${api} over (compat|messages|local), ${kind}$`),
        async (response) => {
          const text = await response.text();
          const other = text.replaceAll("repeat", "repeal").replaceAll("word1", "word0")
            .replaceAll("weather", "wheater");
          return new Response(other, response);
        },
      );
      assertEquals(problems.length, 3, problems.join("\n"));
    });

    Deno.test(`a soak notices a ${api} ${kind} answer that ends early`, async () => {
      const { problems } = await runOnce(
        new RegExp(`^${api} over (compat|messages|local), ${kind}$`),
        async (response) => {
          const text = (await response.text()).trimEnd();
          const end = kind === "JSON" ? text.length - 1 : text.lastIndexOf("\n\n");
          return new Response(text.slice(0, end), response);
        },
      );
      assertEquals(problems.length, 3, problems.join("\n"));
    });
  }
}

Deno.test("a soak notices that a client received another error than the one of the break", async () => {
  const uses = /^chat over compat, (JSON|stream), the upstream breaks$/;
  const { problems } = await runOnce(uses, async (response) => {
    const text = await response.text();
    return new Response(text, { status: 400, headers: response.headers });
  });
  assertEquals(problems.length, 2);
  for (const problem of problems) assertMatch(problem, /not the status \d+ of breaking-compat\//);
});

Deno.test("a soak notices that a client that leaves has received another text", async () => {
  const { problems } = await runOnce(/the client leaves within the stream$/, (response) => {
    const altered = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TransformStream<string, string>({
        transform: (text, controller) => controller.enqueue(text.replaceAll("Please", "Plaese")),
      }),
    ).pipeThrough(new TextEncoderStream());
    return new Response(altered, response);
  });
  assertEquals(problems.length, 12);
});
