// Compares bills of materials with the schema of CycloneDX: `check_sbom.ts FILE...`. Run it with
// `--no-config --no-lock`: what it imports is then in no lock file, whose packages Deno downloads
// for every test. The specifiers are variables, so that only this program downloads the packages.

const LIBRARIES: readonly string[] = [
  // The validator finds these three as its peers.
  "npm:ajv@8.20.0",
  "npm:ajv-formats@3.0.1",
  "npm:ajv-formats-draft2019@1.6.1",
  "npm:@cyclonedx/cyclonedx-library@10.3.0",
];

const libraries = [];
for (const library of LIBRARIES) libraries.push(await import(library));
const { Validation } = libraries.at(-1).default;
const validator = new Validation.JsonStrictValidator("1.6");
for (const file of Deno.args) {
  const problems = await validator.validate(await Deno.readTextFile(file));
  if (problems === null) continue;
  console.error(`${file}: ${JSON.stringify(problems)}`);
  Deno.exitCode = 1;
}
