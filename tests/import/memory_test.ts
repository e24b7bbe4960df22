import { assertEquals } from "../support/assert.ts";

/** Megabytes that the engine may use: far less than a pointer for each character of the source. */
const MAX_HEAP = 100;

Deno.test("a source of 4 MiB whose texts are in quotes is imported in less than 100 MB of heap", async () => {
  const path = await Deno.makeTempFile({ suffix: ".yaml" });
  const entry = (at: number) => `
  - model_name: name-${at}
    litellm_params: {model: openai/model-${at}, api_key: os.environ/KEY}
    model_info: {description: "${"d".repeat(40_000)}"}`;
  const entries = Array.from({ length: 104 }, (_, at) => entry(at));
  await Deno.writeTextFile(path, `model_list:${entries.join("")}\n`);
  try {
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "--no-check", `--v8-flags=--max-old-space-size=${MAX_HEAP}`],
        ...[new URL("../../main.ts", import.meta.url).pathname, "import", "litellm", path],
      ],
    }).output();
    assertEquals(code, 0);
    assertEquals(new TextDecoder().decode(stdout).match(/name-\d+:/g)?.length, 104);
  } finally {
    await Deno.remove(path);
  }
});
