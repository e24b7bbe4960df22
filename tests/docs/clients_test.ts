import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { ADDRESS, gatewayOf, isBroken } from "./documented_gateway.ts";
import { blocksIn } from "./pages.ts";

/** Output of a snippet. */
type Printer = Pick<Console, "log">;

/** A snippet as a module whose only export runs it; its imports stand in front. */
function moduleOf(text: string): string {
  const lines = text.split("\n");
  const isImport = (line: string) => line.startsWith("import ");
  const body = lines.filter((line) => !isImport(line)).join("\n");
  return `${lines.filter(isImport).join("\n")}
export async function snippet(console: Pick<Console, "log">): Promise<void> {
${body}
}
`;
}

async function run(source: string, printer: Printer): Promise<void> {
  const module: Record<string, unknown> = await import(
    `data:application/typescript,${encodeURIComponent(source)}`
  );
  assert(typeof module.snippet === "function");
  await module.snippet(printer);
}

for (const { text, section, place } of blocksIn("ts")) {
  Deno.test(`the client at ${place} gets its answer`, async () => {
    const gateway = gatewayOf(section);
    const source = moduleOf(text).replaceAll(ADDRESS, new URL(gateway.url).host);
    assert(source.includes(gateway.url.replace("http:", "")));
    const printed: unknown[] = [];
    await run(source, { log: (...what) => void printed.push(...what) });
    // Then every call has been reported.
    await gateway[Symbol.asyncDispose]();
    assert(printed.some((what) => what !== ""), "nothing was printed");
    if (isBroken(section)) {
      const reported =
        /upstream_stream_error after [1-9]|response\.failed: The |error: .+ broke off/;
      assert(reported.test(printed.join(" ")), printed.join("\n"));
    }
    const ends = gateway.reports.map(endOf);
    assert(ends.length > 0);
    const expected = isBroken(section) ? "stream_broken" : "complete";
    assertEquals(ends.filter((end) => end !== expected), []);
  });
}

Deno.test("a client in Python says what the clients next to it say, which are run", () => {
  const snippets = blocksIn("python");
  assert(snippets.length > 0);
  for (const { text, section, place } of snippets) {
    const beside = blocksIn("ts").filter((block) => block.section === section)
      .map((block) => block.text).join("\n");
    const texts = [...text.matchAll(/"([^"]*)"/g)].map(([, inner = ""]) =>
      inner.split("{")[0] ?? ""
    );
    assert(texts.length > 5);
    assertEquals(texts.filter((inner) => !beside.includes(inner)), [], place);
  }
});
