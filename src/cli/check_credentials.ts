import type { Generation, ProviderCredential } from "../call/generation.ts";
import { credentialIdentity } from "../config/credential_rules.ts";
import { Cancellation } from "../core/cancellation.ts";
import { newSource } from "../credentials/new_source.ts";
import type { SourceDeps } from "../credentials/source.ts";
import { FAILED_STATUS, OK_STATUS } from "./command.ts";
import { newRealWorld } from "./real_world.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Fetches each credential of a configuration once, and prints when it ends, never its value.
 * Returns the exit code.
 */
export async function checkCredentials(
  { credentials }: Generation,
  { out, environment }: Pick<Terminal, "out" | "environment">,
): Promise<number> {
  const world = newRealWorld();
  const deps = { world, variable: (name: string) => environment[name] };
  try {
    const checked = await Promise.all([...credentials.values()].map((one) => check(one, deps)));
    const lines = checked.length === 0
      ? ["No provider has a credential that is refreshed."]
      : checked.map(({ line }) => line);
    out(["", ...lines, ""].join("\n"));
    return checked.every(({ isValid }) => isValid) ? OK_STATUS : FAILED_STATUS;
  } finally {
    world.close();
  }
}

async function check({ settings, providers }: ProviderCredential, deps: SourceDeps) {
  const fetched = await newSource(settings, deps).fetch(new Cancellation());
  const name = `Credential of ${providers.join(", ")} (${credentialIdentity(settings).join(", ")})`;
  if (!fetched.ok) return { isValid: false, line: `${name}: not available, ${fetched.reason}.` };
  const { expiresMs } = fetched.issued;
  const until = expiresMs === null
    ? "valid, without a known end"
    : `valid until ${new Date(expiresMs).toISOString().replace(/\.\d+/, "")}`;
  return { isValid: true, line: `${name}: ${until}.` };
}
