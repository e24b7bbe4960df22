import { SHARED_HEADERS } from "../../src/remote/dashboard_fields.ts";
import { findBehaviour, MODELS } from "../../src/simulator/model_behaviour.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { HELP_PAGES } from "../../src/cli/help_pages.ts";
import { blocksIn, pages, pageText, proseOf, quoted } from "./pages.ts";

const ROOT = new URL("../../", import.meta.url);

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(new URL(path, ROOT)).then(() => true, () => false);
}

/** The anchor that a heading gets where Markdown is shown. */
function anchorOf(heading: string): string {
  return heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}

Deno.test("every link of the documentation leads to a page of the repository and a heading in it", async () => {
  const links = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => ({ path, target }))
  );
  assert(links.length > 60);
  for (const { path, target } of links) {
    const [file = "", anchor] = target.split("#");
    const linked = file === "" ? path : new URL(file, `file:///${path}`).pathname.slice(1);
    assert(await exists(linked), `${path}: ${target}`);
    if (anchor === undefined) continue;
    const headings = pageText(linked).matchAll(/^#+ (.+)$/gm);
    const anchors = [...headings].map(([, heading = ""]) => anchorOf(heading));
    assert(anchors.includes(anchor), `${path}: ${target}`);
  }
});

Deno.test("the index of the documentation names every page, and so does switchyard help", () => {
  const paths = pages.map(({ path }) => path).filter((path) =>
    path.startsWith("docs/") && path !== "docs/README.md"
  );
  const index = pageText("docs/README.md");
  assertEquals(paths.filter((path) => !index.includes(`(${path.slice("docs/".length)})`)), []);
  const texts = HELP_PAGES.map(({ text }) => text);
  assertEquals(texts.toSorted(), paths.map(pageText).toSorted());
  for (const { topic, text } of HELP_PAGES) {
    assertEquals(pages.find(({ path }) => path.endsWith(`/${topic}.md`))?.text, text);
  }
});

Deno.test("the README has at most 200 lines", () => {
  assert(pageText("README.md").split("\n").length <= 200);
});

Deno.test("the first version has at most 60 lines in the changelog", async () => {
  const text = await Deno.readTextFile(new URL("CHANGELOG.md", ROOT));
  const [, first = ""] = text.split("## 0.1.0\n");
  assert(first !== "" && first.trim().split("\n").length <= 60);
});

Deno.test("every file and folder that the documentation names is there", async () => {
  const paths = pages.flatMap(({ text }) => quoted(proseOf(text))).filter((text) =>
    /^(?:src|scripts|tests)\/[\w./-]*$/.test(text)
  );
  assert(paths.length > 10);
  for (const path of paths) assert(await exists(path), path);
});

for (const [page, least] of [["docs/architecture.md", 80], ["CONTRIBUTING.md", 45]] as const) {
  Deno.test(`every code name in ${page} is in the file that it names`, async () => {
    const text = proseOf(pageText(page));
    const places = quoted(text).filter((one) => one.includes("#") || /^[\w-]+\/\S+\.ts$/.test(one));
    assert(places.length > least, `${places.length}`);
    for (const place of places) {
      const [path = "", name] = place.split("#");
      assert(await exists(path), place);
      if (name === undefined) continue;
      const source = await Deno.readTextFile(new URL(path, ROOT));
      const declared = `^ *(?:export )?(?:async )?(?:\\w+\\*? )?${name}\\b`;
      assert(new RegExp(declared, "m").test(source), place);
    }
  });
}

Deno.test("CONTRIBUTING answers ten questions, each with the function to look at", () => {
  const [, questions = ""] = /\n## Ten questions.*\n([\s\S]*?)\n## /.exec(
    pageText("CONTRIBUTING.md"),
  ) ?? [];
  const answers = questions.trim().split("\n\n");
  assertEquals(answers.length, 10);
  for (const answer of answers) {
    assert(/^\*\*[^*]+\?\*\* \S/.test(answer), answer);
    assert(quoted(answer).some((one) => /^src\/[\w/]+\.ts#\w+$/.test(one)), answer);
  }
});

Deno.test("CONTRIBUTING explains every folder of the sources, and the request path leads through them", async () => {
  const folders: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL("src/", ROOT))) {
    if (isDirectory) folders.push(name);
  }
  const text = pageText("CONTRIBUTING.md");
  assertEquals(folders.filter((name) => !text.includes(`\`${name}/\``)), []);
  const road =
    blocksIn("text").find(({ section }) => section === "CONTRIBUTING.md#The folders")?.text ?? "";
  const stations = [...road.matchAll(/([a-z]+)\/(?:<\w>\/)? \(/g)].map(([, name = ""]) => name);
  assert(stations.length > 5);
  assertEquals(stations.filter((name) => !folders.includes(name)), []);
});

Deno.test("the documentation names every header that a dashboard may receive, and no other", () => {
  const [, tags = ""] =
    /\nTags are ([\s\S]*?) \(not/.exec(pageText("docs/operate/data-sharing.md")) ?? [];
  assertEquals(quoted(tags).map((name) => name.toLowerCase()), SHARED_HEADERS);
  assert(SHARED_HEADERS.length > 10);
});

Deno.test("the documentation names every model of the simulator, and no other", () => {
  const text = proseOf(pageText("docs/develop/simulator.md"));
  const named = new Set(quoted(text));
  const missing = MODELS.filter((model) => !named.has(model));
  assertEquals(missing.filter((model) => !named.has(model.replace(/^sim-native-/, ""))), []);
  const models = [...named].filter((name) => /^sim-[a-z0-9-]*[a-z0-9]$/.test(name));
  assert(models.length > 15);
  assertEquals(models.filter((name) => findBehaviour(name) === null), []);
});

Deno.test("the documentation holds no path and no address of one machine", () => {
  const machine =
    /\/(?:work|root|home|tmp)\/|registry\.(?!ts)|127\.0\.0\.1:(?!8080|8000|8081|4318|6379|11434)\d+/g;
  for (const { path, text } of pages) assertEquals(text.match(machine), null, path);
});
