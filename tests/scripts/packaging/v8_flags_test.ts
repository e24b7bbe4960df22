import { compileArguments } from "../../../scripts/packaging/compile.ts";
import { v8Flags, v8Options } from "../../../scripts/packaging/v8_flags.ts";
import { assert, assertEquals } from "../../support/assert.ts";

Deno.test("this runtime takes the flags of V8 that executables carry", async () => {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", ...v8Options(Deno.version.deno, ["--expose-gc"]), "globalThis.gc()"],
  }).output();
  assert(success, new TextDecoder().decode(stderr));
});

Deno.test("with these flags a heap of texts that are replaced takes less than three times what is in use", async () => {
  const program = new URL("replaced_texts.ts", import.meta.url).pathname;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", ...v8Options(Deno.version.deno), program],
  }).output();
  const mostMib = Number(new TextDecoder().decode(stdout));
  assert(mostMib > 128 && mostMib < 3 * 128, `${mostMib} MiB`);
});

Deno.test("an executable carries the flags of V8 of the runtime that builds it", () => {
  const args = compileArguments({ target: "linux-x64", output: "out", hasFfi: true, files: [] });
  for (const option of v8Options(Deno.version.deno)) assert(args.includes(option), option);
});

Deno.test("Deno 2.9, whose V8 refuses the flag for buffers, gets the other ones alone", () => {
  const [buffers, growth, idle] = v8Flags("2.7.11");
  assertEquals(v8Options("2.7.11"), [`--v8-flags=${buffers},${growth},${idle}`]);
  assertEquals(v8Options("2.9.6"), [`--v8-flags=${growth},${idle}`]);
  assertEquals(v8Options("2.9.6", ["--expose-gc"]), [`--v8-flags=${growth},${idle},--expose-gc`]);
  assertEquals(v8Options("3.0.0"), [`--v8-flags=${growth},${idle}`]);
});
