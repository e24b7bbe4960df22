import {
  bundledPackages,
  missingPackages,
  newBill,
  programPackages,
} from "../../../scripts/packaging/sbom.ts";
import manifest from "../../../deno.json" with { type: "json" };
import { parseJson } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const RELEASE = { version: "1.2.3", denoVersion: "2.7.11", epoch: 1_700_000_000 };
const CHECK = new URL("../../../scripts/packaging/check_sbom.ts", import.meta.url).pathname;

const LOCK = new URL("../../../deno.lock", import.meta.url);

/** Compares bills with the schema of CycloneDX. Returns what is wrong with each. */
async function problemsOf(bills: readonly unknown[]): Promise<readonly string[]> {
  const folder = await Deno.makeTempDir();
  try {
    const files = bills.map((_, at) => `${folder}/${at}.json`);
    for (const [at, file] of files.entries()) {
      await Deno.writeTextFile(file, JSON.stringify(bills[at]));
    }
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-config", "--no-lock", "-A", CHECK, ...files],
    }).output();
    const text = new TextDecoder().decode(stderr);
    assert(success || text.includes(folder), text);
    const lines = text.split("\n");
    return files.map((file) => lines.find((line) => line.startsWith(`${file}: `)) ?? "");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("the bill of materials of the program is valid by the schema of CycloneDX, and the same each time", async () => {
  const packages = await programPackages();
  const bill = await newBill(RELEASE, packages);
  const [problem, broken] = await problemsOf([bill, { ...bill, version: "one" }]);
  assertEquals(problem, "");
  assert(broken?.includes("version"));
  assertEquals(await newBill(RELEASE, packages), bill);
  const other = await newBill({ ...RELEASE, version: "1.2.4" }, packages);
  assert(other.serialNumber !== bill.serialNumber);
});

Deno.test("the bill has what the program imports with checksum and licence, and nothing of the tests", async () => {
  const packages = await programPackages();
  const lock = parseJson(await Deno.readTextFile(LOCK)) as {
    readonly npm: Readonly<Record<string, { readonly integrity: string }>>;
  };
  const integrities = new Set(Object.values(lock.npm).map(({ integrity }) => integrity));
  assertEquals(packages.filter(({ integrity }) => !integrities.has(integrity)), []);
  assertEquals(packages.filter(({ licence }) => licence === null), []);
  const direct = packages.filter(({ isDirect }) => isDirect).map(({ name }) => name);
  for (const name of ["zod", "yaml", "hono", "iovalkey", "preact", "uplot", "prom-client"]) {
    assert(direct.includes(name), name);
  }
  const names = packages.map(({ name }) => name);
  assert(names.includes("redis-parser"), "an indirect import is missing");
  for (const name of ["puppeteer-core", "openai", "ajv", "fast-check"] as const) {
    assert(manifest.imports[name].startsWith(`npm:${name}@`));
    assert(!names.includes(name), name);
  }
});

Deno.test("a package of a bundle that the bill lacks is found by its source map", () => {
  const sources = '{"sources":["npm/yaml/2.9.1/a.js","npm/@a/b/1.0.0/c.js","src/npm/x/y.ts"]}';
  const yaml = { name: "yaml", version: "2.9.1" };
  assertEquals(missingPackages(sources, [yaml]), ["@a/b/1.0.0"]);
  assertEquals(missingPackages(sources, [yaml, { name: "@a/b", version: "1.0.0" }]), []);
});

Deno.test("the bill has no package of which no file is in a bundle, nor the imports of it", () => {
  const one = { version: "1.0.0", integrity: "", licence: null };
  const packages = [
    { ...one, name: "a", imports: [1, 2], isDirect: true },
    { ...one, name: "left-out", imports: [2], isDirect: false },
    { ...one, name: "@b/c", imports: [], isDirect: false },
  ];
  const kept = bundledPackages('["npm/a/1.0.0/a.js","npm/@b/c/1.0.0/c.js"]', packages);
  assertEquals(kept.map(({ name, imports }) => [name, imports]), [["a", [1]], ["@b/c", []]]);
});
