import { findInPath, isFile } from "../../tools/find_in_path.ts";
import { folderFor, runCommand } from "../../tools/package_cache.ts";

// Renders the chart with Helm for each set of values in tests/golden/helm, and writes the manifests
// next to them. Without an installed Helm it builds one with Go, once, which takes minutes.

/** The Go module that Helm is built from. */
const HELM = "helm.sh/helm/v3/cmd/helm@v3.22.0";

/** The oldest Kubernetes of the chart: a Helm that was built from its module knows none. */
const KUBERNETES = ["--kube-version", "1.25.0"];

const CHART = new URL("./switchyard/", import.meta.url).pathname;
const CASES = new URL("../../../tests/golden/helm/", import.meta.url).pathname;

/** Names of the sets of values. */
export const CASE_NAMES: readonly string[] = [...Deno.readDirSync(CASES)].map(({ name }) => name)
  .toSorted();

/** Returns the path of a file of a case: `values.yaml` or `manifest.yaml`. */
export function casePath(name: string, file: string): string {
  return `${CASES}${name}/${file}`;
}

/** Returns the path of Helm: `HELM`, else the one in the PATH or that was built; null if none. */
export function findHelm(): string | null {
  const built = builtHelm();
  return Deno.env.get("HELM") ?? findInPath(["helm"]) ?? (isFile(built) ? built : null);
}

function builtHelm(): string {
  return `${folderFor("deploy", [HELM])}/helm`;
}

/** Renders the chart with the values of a case. Fails if Helm finds something wrong with it. */
export async function renderCase(helm: string, name: string): Promise<string> {
  const values = ["--values", casePath(name, "values.yaml")];
  await run(helm, ["lint", "--strict", "--quiet", CHART, ...KUBERNETES, ...values]);
  const template = [
    "template",
    "gateway",
    CHART,
    "--namespace",
    "models",
    ...KUBERNETES,
    ...values,
  ];
  return `# ${await digestOf(name)}\n${await run(helm, template)}`;
}

/** Returns what Helm says about values that the chart must refuse. */
export async function refusal(helm: string, ...set: readonly string[]): Promise<string> {
  const values = set.flatMap((one) => ["--set", one]);
  const args = ["template", "gateway", CHART, ...KUBERNETES, ...values];
  const { success, stderr } = await new Deno.Command(helm, { args }).output();
  return success ? "" : new TextDecoder().decode(stderr);
}

async function run(helm: string, args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(helm, { args: [...args] }).output();
  const text = new TextDecoder();
  if (!success) throw new Error(`${text.decode(stdout)}${text.decode(stderr)}`);
  return text.decode(stdout);
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
  let helm = findHelm();
  if (helm === null) {
    helm = builtHelm();
    Deno.env.set("GOBIN", folderFor("deploy", [HELM]));
    await runCommand("go", ["install", HELM]);
  }
  for (const name of CASE_NAMES) {
    await Deno.writeTextFile(casePath(name, "manifest.yaml"), await renderCase(helm, name));
  }
}
