import {
  bundleFile,
  linkedTo,
  neutralCode,
  neutralMap,
  type Places,
  stampedOnce,
} from "../../../scripts/packaging/bundle.ts";
import {
  chunkNames,
  withChunkNames,
  withDynamicImports,
} from "../../../scripts/packaging/chunk_names.ts";
import { assertEquals, assertMatch, assertThrows } from "../../support/assert.ts";

const PLACES: Places[] = [
  { root: "/home/a/work", folder: "/home/a/work/.cache/bundle", packages: "/home/a/.deno/npm" },
  { root: "/srv/b", folder: "/srv/b/.cache/bundle", packages: "/srv/b/cache/npm" },
];

const TO_PACKAGES = ["../.deno/npm/one.example", "cache/npm/localhost_4873"];

Deno.test("a bundle names neither the cache nor the registry of the machine that made it", () => {
  const codes = PLACES.map((places, at) =>
    neutralCode(`// ${TO_PACKAGES[at]}/yaml/2.9.1/dist/visit.js\nvar a = "./npm/x/y";\n`, places)
  );
  assertEquals(codes, PLACES.map(() => '// npm/yaml/2.9.1/dist/visit.js\nvar a = "./npm/x/y";\n'));
});

Deno.test("a source map names the same sources wherever they lie, and holds no source", () => {
  const maps = PLACES.map((places, at) => {
    const up = at === 0 ? "../../../.deno/npm/one.example" : "../../cache/npm/localhost_4873";
    const sources = [`${up}/@a/b/1.0.0/c.js`, "../../src/core/json.ts"];
    const map = { version: 3, sources, sourcesContent: ["", ""], names: ["n"], mappings: "AAAA" };
    return JSON.parse(neutralMap(JSON.stringify(map), places));
  });
  const sources = ["npm/@a/b/1.0.0/c.js", "src/core/json.ts"];
  assertEquals(
    maps,
    PLACES.map(() => ({ version: 3, sources, names: [], mappings: "AAAA" })),
  );
});

Deno.test("a bundle names the file of its source map", () => {
  assertEquals(linkedTo("a.js.map", "use();"), "use();\n//# sourceMappingURL=a.js.map\n");
});

Deno.test("an error of a bundled program names the line of its source", async () => {
  const root = new URL("../../../", import.meta.url).pathname.replace(/\/$/, "");
  const folder = await Deno.makeTempDir({ prefix: "switchyard-bundle-" });
  try {
    const source = "tests/support/throwing_program.ts";
    await bundleFile({ root, folder, packages: `${folder}/none` }, { source, file: "main.js" });
    const { mappings } = JSON.parse(await Deno.readTextFile(`${folder}/main.js.map`));
    assertMatch(mappings, /^[A-Za-z\d+/;]+$/, "one position of each line");
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--no-config", `${folder}/main.js`],
    }).output();
    const lines = (await Deno.readTextFile(`${root}/${source}`)).split("\n");
    const line = lines.findIndex((one) => one.includes('fail({ name: "here" })')) + 1;
    assertMatch(
      new TextDecoder().decode(stdout),
      new RegExp(`throwing_program\\.ts:${line}:\\d+\n`),
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a build may have an address of releases, in the one place for it", () => {
  const codes = new Map([["a.js", "var RELEASE_ADDRESS = null;\nuse(RELEASE_ADDRESS);\n"], [
    "b.js",
    "",
  ]]);
  assertEquals([...stampedOnce(codes, 'https://a.example/"')], [
    ["a.js", 'var RELEASE_ADDRESS = "https://a.example/\\"";\nuse(RELEASE_ADDRESS);\n'],
    ["b.js", ""],
  ]);
  assertThrows(() => stampedOnce(new Map([["a.js", "nothing"]]), "https://a.example"));
  const twice = new Map([...codes, ["c.js", "RELEASE_ADDRESS = null;"]]);
  assertThrows(() => stampedOnce(twice, "https://a.example"));
});

Deno.test("the chunks of a bundle have the same names wherever it is made", () => {
  const made = (one: string, other: string) =>
    new Map([
      ["main.js", `import "./${one}"; import("./${other}"); import("./open-ABCDEFG1.js");`],
      [one, `import "./${other}"; one();`],
      [other, "other();"],
      ["open-ABCDEFG1.js", `import "./${one}";`],
    ]);
  const bundles = [
    made("chunk-AAAAAAAA.js", "chunk-BBBBBBBB.js"),
    made("chunk-ZZZZZZZZ.js", "chunk-00000000.js"),
  ].map((codes) => {
    const names = chunkNames(codes);
    return [...codes].map(([name, code]) => [names.get(name) ?? name, withChunkNames(code, names)]);
  });
  const expected = [
    ["main.js", 'import "./chunk-1.js"; import("./chunk-2.js"); import("./open-1.js");'],
    ["chunk-1.js", 'import "./chunk-2.js"; one();'],
    ["chunk-2.js", "other();"],
    ["open-1.js", 'import "./chunk-1.js";'],
  ];
  assertEquals(bundles, [expected, expected]);
});

Deno.test("the program imports its chunks dynamically, on the same lines", () => {
  const code =
    'import {\n  a,\n  b as c\n} from "./chunk-1.js";\nimport { d } from "node:path";\na();\n';
  assertEquals(
    withDynamicImports(code),
    'const {\n  a,\n  b: c\n} = await import("./chunk-1.js");\nimport { d } from "node:path";\na();\n',
  );
});
