import type { TestGateway } from "../../support/gateway.ts";

/**
 * Returns what the key `ada` is charged: in its budgets, in the metrics and in the usage report.
 */
export async function chargesOf({ gateway, reports }: Pick<TestGateway, "gateway" | "reports">) {
  const found = await gateway.state.quotas.spent(["key ada"]);
  const windows = found.ok ? found.value.get("key ada") : undefined;
  const sum = (unit: string) => windows?.get(`${unit} d:2023-11-14`) ?? 0;
  const text = await gateway.metrics.scrape();
  const metric = (name: string) =>
    Number(new RegExp(`^${name}\\{.*\\} (.*)$`, "m").exec(text)?.[1] ?? 0);
  const usage = await gateway.state.usage.read(["2023-11-14"]);
  const rows = usage.ok ? usage.value : [];
  const total = (of: (row: (typeof rows)[number]) => number) =>
    rows.reduce((total, row) => total + of(row), 0);
  return {
    quotas: { tokens: sum("tokens"), nanoUsd: sum("usd") },
    metrics: {
      tokens: metric("gateway_client_tokens_total"),
      nanoUsd: Math.round(metric("gateway_client_spend_usd_total") * 1e9),
    },
    usage: {
      tokens: total(({ input, output }) => input + output),
      nanoUsd: total((row) => row.nanoUsd),
    },
    reports,
  };
}
