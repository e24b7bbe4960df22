import { isPositiveInteger } from "./batches.ts";

/** Returns whether a value of a variable is understood. */
type Understands = (value: string) => boolean;

/** The samplers of the standard, without those that a collector decides. */
const SAMPLERS = /^(?:parentbased_)?(?:always_on|always_off|traceidratio)$/;

/** The variables of an exporter, each also for spans alone (`OTEL_EXPORTER_OTLP_TRACES_*`). */
const EXPORTER: Readonly<Record<string, Understands>> = {
  ENDPOINT: isHttpUrl,
  PROTOCOL: () => true,
  HEADERS: () => true,
  TIMEOUT: isPositiveInteger,
  COMPRESSION: (value) => value === "gzip" || value === "none",
  CERTIFICATE: () => true,
  CLIENT_CERTIFICATE: () => true,
  CLIENT_KEY: () => true,
};

/** The variables that are read. */
const READ: ReadonlyMap<string, Understands> = new Map(Object.entries({
  OTEL_SDK_DISABLED: (value) => /^(?:true|false)$/i.test(value),
  OTEL_TRACES_EXPORTER: (value) => /^\s*(?:none|otlp)\s*$/.test(value),
  OTEL_SERVICE_NAME: () => true,
  OTEL_RESOURCE_ATTRIBUTES: () => true,
  OTEL_TRACES_SAMPLER: (value) => SAMPLERS.test(value),
  OTEL_TRACES_SAMPLER_ARG: (value) => Number(value) >= 0 && Number(value) <= 1,
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: isPositiveInteger,
  OTEL_BSP_MAX_QUEUE_SIZE: isPositiveInteger,
  OTEL_BSP_SCHEDULE_DELAY: isPositiveInteger,
  OTEL_BSP_EXPORT_TIMEOUT: isPositiveInteger,
  // Of the formats that they name, a traceparent is read and no other header.
  OTEL_PROPAGATORS: (value) => /\b(?:tracecontext|none)\b/.test(value),
  OTEL_METRICS_EXPORTER: (value) => value === "none",
  OTEL_LOGS_EXPORTER: (value) => value === "none",
  ...Object.fromEntries(
    Object.entries(EXPORTER).flatMap(([name, understands]) => [
      [`OTEL_EXPORTER_OTLP_${name}`, understands],
      [`OTEL_EXPORTER_OTLP_TRACES_${name}`, understands],
    ]),
  ),
}));

/**
 * Returns a sentence for the variables `OTEL_*` that are set and not followed, with their names and
 * without their values, which may be secrets; null if there are none.
 */
export function ignoredVariables(
  environment: Readonly<Record<string, string | undefined>>,
): string | null {
  const ignored = Object.entries(environment).flatMap(([name, value = ""]) => {
    // Those of OTEL_DENO are for the runtime.
    const isSet = /^OTEL_(?!DENO)/.test(name) && value.trim() !== "";
    return isSet && READ.get(name)?.(value.trim()) !== true ? [name] : [];
  });
  if (ignored.length === 0) return null;
  return `variables are not followed, or not in all they say: ${ignored.toSorted().join(", ")}`;
}

/** True for an address that spans can be sent to. */
export function isHttpUrl(value: string): boolean {
  return /^https?:$/.test(URL.parse(value)?.protocol ?? "");
}
