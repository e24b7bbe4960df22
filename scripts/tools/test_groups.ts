import { basename, dirname, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Most test files that share one isolate: each isolate loads and compiles the modules of the
 * program again, which takes about 1.5 s of processor time.
 */
const GROUP_FILES_COUNT = 130;

/**
 * Most test files of a group whose tests wait for stores, programs and browsers: each takes several
 * times as long as one that waits for nothing.
 */
const WAITING_FILES_COUNT = 30;

/**
 * Folders whose tests wait, with the most files of a group, the longest ones first. Groups begin in
 * the order of their names: one that waits at the end would leave the processors without work.
 */
const WAITING_FOLDERS: readonly (readonly [folder: string, filesCount: number])[] = [
  ["e2e", WAITING_FILES_COUNT],
  ["admin", WAITING_FILES_COUNT],
  ["scripts", GROUP_FILES_COUNT],
  ["store", WAITING_FILES_COUNT],
  ["cli", GROUP_FILES_COUNT],
];

/**
 * Writes modules into `folder` that import the test files of `root`, at most 130 each, or 30 of a
 * folder whose tests wait long, in groups of the same size. Files of one folder are together,
 * because they import the same modules. With `isMeasured` each group writes the costs of its files.
 */
export async function writeGroups(
  root: string,
  folder: string,
  isMeasured = false,
): Promise<void> {
  const files = await findTestFiles(root);
  const placed = Object.groupBy(files, (file) => {
    const [own] = relative(root, file).split(sep);
    const place = WAITING_FOLDERS.findIndex(([folder]) => folder === own);
    return String(place === -1 ? WAITING_FOLDERS.length : place);
  });
  for (const [place, files = []] of Object.entries(placed)) {
    const [, mostCount] = WAITING_FOLDERS[Number(place)] ?? ["", GROUP_FILES_COUNT];
    const filesCount = Math.ceil(files.length / Math.ceil(files.length / mostCount));
    for (let at = 0; at < files.length; at += filesCount) {
      const group = files.slice(at, at + filesCount);
      const [first = ""] = group;
      const name = [place, ...relative(root, dirname(first)).split(sep), basename(first)].join("-");
      const modules = group.map((file) => JSON.stringify(pathToFileURL(file).href));
      const text = isMeasured ? measuredGroup(name, modules) : modules.map(importOf).join("");
      await Deno.writeTextFile(join(folder, name), text);
    }
  }
}

function importOf(module: string): string {
  return `import ${module};\n`;
}

async function findTestFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) found.push(...await findTestFiles(path));
    else if (name.endsWith("_test.ts")) found.push(path);
  }
  return found.toSorted();
}

function measuredGroup(name: string, modules: readonly string[]): string {
  const costs = new URL("test_costs.ts", import.meta.url).href;
  const lines = modules.map((module) => `beginFile(${module}); await import(${module});`);
  const used = `import { beginFile, endFiles, measureTests } from "${costs}";`;
  return [used, "measureTests();", ...lines, `endFiles("${name}");`].join("\n");
}
