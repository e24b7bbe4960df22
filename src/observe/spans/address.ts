import { isHttpUrl } from "./ignored_variables.ts";

/** Environment variables with their values. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Returns a function from the name of a variable to its value; empty if it is not set. */
export function variablesOf(environment: Environment): (name: string) => string {
  return (name) => (environment[name] ?? "").trim();
}

/** True if the variables switch off all that the packages for spans could do. */
export function isDisabled(variable: (name: string) => string): boolean {
  return variable("OTEL_SDK_DISABLED").toLowerCase() === "true";
}

/** Returns the address of the collector; empty if the variables name none or another exporter. */
export function addressOf(variable: (name: string) => string): string {
  const exporters = variable("OTEL_TRACES_EXPORTER") || "otlp";
  if (!exporters.split(",").some((word) => word.trim() === "otlp")) return "";
  return variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") || variable("OTEL_EXPORTER_OTLP_ENDPOINT");
}

/** Returns the URL for spans: that of spans alone as it is, else the common one with their path. */
export function spansUrl(variable: (name: string) => string): string {
  return variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") ||
    `${variable("OTEL_EXPORTER_OTLP_ENDPOINT").replace(/\/$/, "")}/v1/traces`;
}

/** Returns where spans are sent to, without credentials and query; null if they are not sent. */
export function shownAddress(environment: Environment): string | null {
  const variable = variablesOf(environment);
  if (isDisabled(variable) || !isHttpUrl(addressOf(variable))) return null;
  const { origin, pathname } = new URL(spansUrl(variable));
  return `${origin}${pathname}`;
}
