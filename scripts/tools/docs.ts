import claudeCode from "../clients/agent/results.json" with { type: "json" };
import { pageOf, type Results } from "../clients/agent/results.ts";
import { configReference } from "./reference/config_keys.ts";
import { cliPage } from "./reference/cli.ts";
import { clientsPage } from "./reference/clients.ts";
import { endpointsPage } from "./reference/endpoints.ts";
import { errorsPage } from "./reference/errors.ts";
import { hostsPage } from "./reference/hosts.ts";
import { importTable } from "./reference/imports.ts";
import { logFieldsPage } from "./reference/log_fields.ts";
import { refereesPage } from "./reference/referees.ts";
import { requestFieldsPage } from "./reference/request_fields.ts";
import { spansPage } from "./reference/spans.ts";
import { metricsPage } from "./reference/metrics.ts";

const ROOT = new URL("../../", import.meta.url);

/** Pages that are written from the code as a whole, by their paths in the repository. */
export const GENERATED_PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  "docs/reference/errors.md": errorsPage,
  "docs/reference/metrics.md": metricsPage,
  "docs/reference/log-fields.md": logFieldsPage,
  "docs/reference/endpoints.md": endpointsPage,
  "docs/reference/cli.md": cliPage,
  "docs/reference/request-fields.md": requestFieldsPage,
  "docs/reference/clients.md": clientsPage,
  "docs/reference/hosts.md": hostsPage,
  "docs/reference/spans.md": spansPage,
  "docs/reference/referees.md": refereesPage,
};

/** Parts of pages that are written from the code, between their two comments. */
export const GENERATED_PARTS: Readonly<Record<string, (page: string) => string>> = {
  "docs/reference/configuration.md": withReference,
  "docs/architecture.md": withImports,
  "docs/guide/messages.md": withClaudeCode,
};

/** Returns the reference page of configuration keys with the table that the schema now gives. */
function withReference(page: string): string {
  return withPart(page, "config reference", configReference().trim());
}

/** Returns the page of the architecture with the import table that `deno lint` now enforces. */
function withImports(page: string): string {
  return withPart(page, "import table", importTable());
}

/** Returns the page about the Messages API with the results of Claude Code. */
function withClaudeCode(page: string): string {
  return withPart(page, "results of Claude Code", pageOf(claudeCode as Results));
}

/** Returns a page with another text between the comments that `name` begins and ends. */
function withPart(page: string, name: string, text: string): string {
  const begin = page.indexOf("\n", page.indexOf(`<!-- ${name}`)) + 1;
  const end = page.indexOf(`<!-- end of ${name} -->`);
  return `${page.slice(0, begin)}\n${text}\n\n${page.slice(end)}`;
}

if (import.meta.main) {
  for (const [path, write] of Object.entries(GENERATED_PAGES)) {
    await Deno.writeTextFile(new URL(path, ROOT), await write());
  }
  for (const [path, complete] of Object.entries(GENERATED_PARTS)) {
    const url = new URL(path, ROOT);
    await Deno.writeTextFile(url, complete(await Deno.readTextFile(url)));
  }
}
