import { nearest, type Problem, problem } from "./problems.ts";
import type { Config } from "./schema.ts";

/** Returns a warning for each provider that `telemetry` names and the file does not have. */
export function telemetryWarnings({ telemetry, providers }: Config): Problem[] {
  const ids = Object.keys(providers);
  const named = [
    ...telemetry.propagate.map((id, at) => ({ id, path: ["telemetry", "propagate", at] })),
    ...Object.keys(telemetry.provider_names).map((id) => ({
      id,
      path: ["telemetry", "provider_names", id],
    })),
  ];
  return named.filter(({ id }) => !ids.includes(id)).map(({ id, path }) => {
    const near = nearest(id, ids);
    const hint = near === null ? "" : `; did you mean ${near}?`;
    return problem(path, `names a provider that does not exist${hint}`);
  });
}
