import { behaviourOf, MODELS } from "../../src/simulator/behaviour.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { blocksIn, prose, quoted, readme, sectionText } from "./readme_text.ts";

const ROOT = new URL("../../", import.meta.url);

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(new URL(path, ROOT)).then(() => true, () => false);
}

/** The anchor that a heading gets where Markdown is shown. */
function anchorOf(heading: string): string {
  return heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}

Deno.test("every link inside the README leads to a heading", () => {
  const anchors = readme.matchAll(/^#+ (.+)$/gm).map(([, heading = ""]) => anchorOf(heading));
  const known = new Set(anchors);
  const links = [...readme.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = ""]) => anchor);
  assert(links.length > 30);
  assertEquals(links.filter((anchor) => !known.has(anchor)), []);
  const others = [...readme.matchAll(/\]\(([^#)][^)]*)\)/g)].map(([, target = ""]) => target);
  assertEquals(others, []);
});

Deno.test("every chapter is in the contents of the README", () => {
  const [, contents = ""] = /\n## Contents\n([\s\S]*?)\n## /.exec(readme) ?? [];
  const chapters = [...readme.matchAll(/^## (.+)$/gm)].map(([, heading = ""]) => heading);
  const missing = chapters.filter((heading) => !contents.includes(`(#${anchorOf(heading)})`));
  assertEquals(missing, ["Set up", "Contents"]);
});

Deno.test("every file and folder that the README names is there", async () => {
  const paths = quoted(prose).filter((text) => /^(?:src|scripts|tests)\/[\w./-]*$/.test(text));
  assert(paths.length > 10);
  for (const path of paths) assert(await exists(path), path);
});

Deno.test("the README explains every folder of the sources, and the road leads through them", async () => {
  const folders: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL("src/", ROOT))) {
    if (isDirectory) folders.push(name);
  }
  const text = sectionText("For contributors");
  assertEquals(folders.filter((name) => !text.includes(`\`${name}/\``)), []);
  const road = blocksIn("text").find(({ section }) => section === "For contributors")?.text ?? "";
  const stations = [...road.matchAll(/([a-z]+)\/(?:<\w>\/)? \(/g)].map(([, name = ""]) => name);
  assert(stations.length > 5);
  assertEquals(stations.filter((name) => !folders.includes(name)), []);
});

Deno.test("the README names every header that a dashboard may be told, and no other", async () => {
  const shared = await Deno.readTextFile(new URL("src/server/shared.ts", ROOT));
  const [, list = ""] = /TOLD_HEADERS = \[([^\]]*)\]/.exec(shared) ?? [];
  const told = list.match(/x-[a-z-]+/g) ?? [];
  const [, tags = ""] = /\nTags are ([\s\S]*?) \(not/.exec(readme) ?? [];
  assertEquals(quoted(tags).map((name) => name.toLowerCase()), told);
  assert(told.length > 10);
});

Deno.test("the README names every model of the simulator, and no other", () => {
  const text = sectionText("Simulator and demo");
  const named = new Set(quoted(text));
  const missing = MODELS.filter((model) => !named.has(model));
  assertEquals(missing.filter((model) => !named.has(model.replace(/^sim-native-/, ""))), []);
  const models = [...named].filter((name) => /^sim-[a-z0-9-]*[a-z0-9]$/.test(name));
  assert(models.length > 15);
  assertEquals(models.filter((name) => behaviourOf(name) === null), []);
});

Deno.test("the README is a file for every machine", () => {
  assertEquals(
    readme.match(
      /\/(?:work|root|home|tmp)\/|registry\.(?!ts)|127\.0\.0\.1:(?!8080|8081|4318|11434)\d+/g,
    ),
    null,
  );
});
