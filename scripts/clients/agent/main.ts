import { PROVIDER_TYPES, type ProviderType, type ResultRow, type Verdict } from "./results.ts";
import { runSession, USUAL } from "./session.ts";
import { SENTENCE_USES } from "./repairs.ts";
import { type Use, USES } from "./uses.ts";

/** Runs a use of the client over one provider type. */
export async function runUse(binary: string, use: Use, type: ProviderType): Promise<Verdict> {
  try {
    return use.check(await runSession(binary, type, { ...USUAL, ...use.options() }), type);
  } catch (error) {
    return `fail: ${error instanceof Error ? error.message : "unknown reason"}`;
  }
}

/** Runs uses over the provider types; prints each row when it is complete. */
export async function runRows(
  binary: string,
  uses: readonly Use[],
  types: readonly ProviderType[],
): Promise<readonly ResultRow[]> {
  const rows: ResultRow[] = [];
  for (const use of uses) {
    const verdicts: Partial<Record<ProviderType, Verdict>> = {};
    for (const type of types) verdicts[type] = await runUse(binary, use, type);
    rows.push({ title: use.title, verdicts });
    console.log(use.title, JSON.stringify(verdicts));
  }
  return rows;
}

if (import.meta.main) {
  await runRows(
    "/tmp/cc/x/package/claude",
    [...SENTENCE_USES, ...USES].filter(({ title }) => title.includes(Deno.args[0] ?? "")),
    PROVIDER_TYPES,
  );
}
