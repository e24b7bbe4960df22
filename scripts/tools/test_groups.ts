import { basename, dirname, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Test files that share one isolate: each isolate loads and compiles the modules of the program
 * again.
 */
const GROUP_FILES_COUNT = 20;

/**
 * Writes modules into `folder` that import the test files of `root`, 20 each.
 * Files of one folder are together, because they import the same modules.
 */
export async function writeGroups(root: string, folder: string): Promise<void> {
  const files = await findTestFiles(root);
  for (let at = 0; at < files.length; at += GROUP_FILES_COUNT) {
    const group = files.slice(at, at + GROUP_FILES_COUNT);
    const [first = ""] = group;
    const name = [...relative(root, dirname(first)).split(sep), basename(first)].join("-");
    const imports = group.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`);
    await Deno.writeTextFile(join(folder, name), imports.join(""));
  }
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
