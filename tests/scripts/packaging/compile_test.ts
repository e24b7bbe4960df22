import {
  checksums,
  compile,
  compileArguments,
  hostName,
  readOptions,
  releaseAddress,
  TARGETS,
} from "../../../scripts/packaging/compile.ts";
import { assert, assertEquals, assertMatch, assertThrows } from "../../support/assert.ts";

const BUILD = {
  target: "linux-x64",
  output: "out",
  hasFfi: true,
  files: ["chunk-1.js", "chunk-1.js.map", "main.js", "main.js.map", "store_worker.js"],
} as const;

Deno.test("without arguments the executable is for this machine", () => {
  const output = "dist/bin";
  assertEquals(readOptions([], "linux-x64"), { targets: ["linux-x64"], output, hasFfi: true });
  const args = ["--target", "darwin-arm64", "--target", "win32-x64", "--output", "elsewhere"];
  assertEquals(readOptions(args, "linux-x64"), {
    targets: ["darwin-arm64", "win32-x64"],
    output: "elsewhere",
    hasFfi: true,
  });
  assertEquals(readOptions(["--no-ffi"], "linux-x64")?.hasFfi, false);
});

Deno.test("a machine that there is no runtime for is refused", () => {
  for (const args of [["--target", "linux-riscv64"], ["--target"], ["--targt", "linux-x64"]]) {
    assertEquals(readOptions(args, "linux-x64"), null);
  }
  assertEquals(readOptions([], "freebsd-x64"), null);
  assertEquals(readOptions(["--target", "constructor"], "linux-x64"), null);
});

Deno.test("machines are named as their archives are", () => {
  const machines = [["linux", "x86_64"], ["linux", "aarch64"], ["darwin", "aarch64"], [
    "windows",
    "x86_64",
  ]].map(([os = "", arch = ""]) => hostName({ os, arch }));
  assertEquals(machines, ["linux-x64", "linux-arm64", "darwin-arm64", "win32-x64"]);
  assert(machines.every((name) => Object.hasOwn(TARGETS, name)));
});

Deno.test("an executable can do what the program needs and nothing else", () => {
  const args = compileArguments(BUILD);
  const rights = args.filter((word) => word.startsWith("--allow") || word === "--no-prompt");
  assertEquals(rights.toSorted(), [
    "--allow-env",
    "--allow-ffi=/lib,/lib64,/usr/lib",
    "--allow-net",
    "--allow-read",
    "--allow-run=/proc/self/exe",
    "--allow-sys=hostname",
    "--allow-write",
    "--no-prompt",
  ]);
});

Deno.test("an executable can share its port among the workers of a gateway", () => {
  // The option of the listener that this needs is not part of the stable runtime.
  assert(compileArguments(BUILD).includes("--unstable-net"));
});

Deno.test("an executable contains every file of its bundle, also those that are loaded later", () => {
  const args = compileArguments(BUILD);
  const files = ["chunk-1.js", "chunk-1.js.map", "main.js.map", "store_worker.js"];
  assertEquals(args.slice(args.indexOf("--include")), [
    ...files.flatMap((file) => ["--include", file]),
    "main.js",
  ]);
});

Deno.test("an executable without the right to call libraries has all its other rights", () => {
  const rights = (hasFfi: boolean) => compileArguments({ ...BUILD, hasFfi });
  const ffi = rights(true).filter((word) => word.includes("ffi"));
  assertEquals(ffi, ["--allow-ffi=/lib,/lib64,/usr/lib"]);
  assertEquals(rights(false), rights(true).filter((word) => !ffi.includes(word)));
});

/**
 * Builds where only some runtimes can be had. Returns those that were tried, and what went wrong.
 */
async function built(
  runtimePath: string,
  tools: { readonly allowsNpm?: string; readonly ownSite?: boolean },
) {
  const { allowsNpm, ownSite = false } = tools;
  const tried: string[] = [];
  const trouble = await compile({ ...BUILD, runtimePath }, {
    compile(_args, runtime) {
      tried.push(runtime ?? "own site");
      return Promise.resolve(runtime !== null || ownSite);
    },
    npmRuntime: (target) => Promise.resolve(`npm ${target}`),
    allowsNpm,
  });
  return { tried, trouble };
}

Deno.test("the runtime is the one that is named, else that of Deno's own site", async () => {
  assertEquals(await built("/runtime", {}), { tried: ["/runtime"], trouble: null });
  assertEquals(await built("", { ownSite: true }), { tried: ["own site"], trouble: null });
});

Deno.test("the runtime in an npm package is used only if permitted, else nothing is built", async () => {
  const allowed = await built("", { allowsNpm: "1" });
  assertEquals(allowed, { tried: ["own site", "npm linux-x64"], trouble: null });
  for (const tools of [{}, { allowsNpm: "" }, { allowsNpm: "0" }, { allowsNpm: "yes" }]) {
    const { tried, trouble } = await built("", tools);
    assertEquals(tried, ["own site"]);
    assertMatch(trouble ?? "", /no runtime for linux-x64.*SWITCHYARD_ALLOW_NPM_RUNTIME=1/);
  }
});

Deno.test("checksums have the format of sha256sum, in the order of names", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/b`, "abc");
  await Deno.writeTextFile(`${folder}/a`, "");
  // FIPS 180-2, appendix B.1, and the digest of nothing.
  assertEquals(
    await checksums(folder, ["b", "a"]),
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n" +
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b\n",
  );
  await Deno.remove(folder, { recursive: true });
});

Deno.test("only an absolute address can be built in", () => {
  assertEquals(releaseAddress(""), null);
  assertEquals(releaseAddress("https://a.example/x"), "https://a.example/x");
  for (const wrong of ["a.example", "file:///etc", "/x"]) {
    assertThrows(() => releaseAddress(wrong), wrong);
  }
});
