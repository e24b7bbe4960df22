import { runWithInput } from "../../tools/run_with_input.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { type UnpackedWheel, unpackWheel } from "../../tools/python_wheel.ts";
import { parse } from "yaml";

// Renders the chart with Helm for each set of values in tests/golden/helm, and writes the manifests
// next to them: ./scripts/deno run -A scripts/deploy/helm/render.ts

/** Helm 4.2.3 as a library, in a package from PyPI; the digest is that of the wheel for Linux. */
const HELM = "helm-python-sdk==0.2.2";
const HELM_SHA256 = "28cc13abaf134c3a7e37f070c939be8d9cdc9825c3c8b8b2d35161073bcd4578";

const CHART = new URL("./switchyard/", import.meta.url).pathname;
const CASES = new URL("../../../tests/golden/helm/", import.meta.url).pathname;

/** Names of the sets of values. */
export const CASE_NAMES: readonly string[] = [...Deno.readDirSync(CASES)].map(({ name }) => name)
  .toSorted();

/** A manifest, or what Helm says about values that it refuses. */
export type Rendered =
  | { readonly manifest: string; readonly problem?: undefined }
  | { readonly problem: string; readonly manifest?: undefined };

/** Returns the path of a file of a case: `values.yaml` or `manifest.yaml`. */
export function casePath(name: string, file: string): string {
  return `${CASES}${name}/${file}`;
}

/** Returns the values of a case. */
export async function valuesOf(name: string): Promise<JsonObject> {
  return parse(await Deno.readTextFile(casePath(name, "values.yaml")));
}

/** Returns the library of Helm, which is downloaded once. */
export function findHelm(): Promise<UnpackedWheel> {
  return unpackWheel(HELM, HELM_SHA256, "helm_python/__init__.py");
}

/** Renders the chart with each of these sets of values; lint problems are problems too. */
export async function render(
  helm: string,
  sets: readonly JsonObject[],
): Promise<readonly Rendered[]> {
  const { success, stdout } = await runWithInput(
    "python3",
    {
      args: [new URL("./render.py", import.meta.url).pathname, CHART],
      env: { PYTHONPATH: helm.replace(/\/helm_python\/.*/, "") },
    },
    JSON.stringify(sets),
  );
  if (!success) throw new Error("Helm has failed");
  return JSON.parse(stdout);
}

/** Returns what Helm has rendered of a case, as its file has it. */
export async function caseText(name: string, { manifest, problem }: Rendered): Promise<string> {
  if (manifest === undefined) throw new Error(`${name}: ${problem}`);
  return `# ${await digestOf(name)}\n${manifest}`;
}

/** Returns the checksum of all files of the chart and the values of a case. */
export async function digestOf(name: string): Promise<string> {
  const paths = ["Chart.yaml", "values.yaml", "values.schema.json"].map((file) => CHART + file);
  const templates = [...Deno.readDirSync(`${CHART}templates`)]
    .map(({ name }) => `${CHART}templates/${name}`).toSorted();
  let text = "";
  for (const path of [...paths, ...templates, casePath(name, "values.yaml")]) {
    text += await Deno.readTextFile(path);
  }
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `Rendered from files with SHA-256 ${new Uint8Array(digest).toHex()}`;
}

if (import.meta.main) {
  const helm = await findHelm();
  if (!helm.ok) throw new Error(helm.reason);
  const rendered = await render(helm.path, await Promise.all(CASE_NAMES.map(valuesOf)));
  for (const [index, one] of rendered.entries()) {
    const name = CASE_NAMES[index] ?? "";
    await Deno.writeTextFile(casePath(name, "manifest.yaml"), await caseText(name, one));
  }
}
