import type { Context, Link, SpanContext } from "@opentelemetry/api";
import type { Sampler } from "@opentelemetry/sdk-trace-base";

/**
 * Returns a function that decides whether a trace is exported, as `OTEL_TRACES_SAMPLER` and
 * `OTEL_TRACES_SAMPLER_ARG` say: by default as the client has decided, and always without one.
 * An unknown name is the default one, and a share that is not from 0 to 1 is 1.
 */
export function newSampling(
  variable: (name: string) => string,
  Ratio: new (ratio: number) => Pick<Sampler, "shouldSample">,
): (traceId: string, parent: SpanContext | undefined) => boolean {
  const name = variable("OTEL_TRACES_SAMPLER");
  const followsClient = !["always_on", "always_off", "traceidratio"].includes(name);
  const isSampledRoot = rootSampling(name.replace("parentbased_", ""));
  return (traceId, parent) =>
    followsClient && parent !== undefined ? (parent.traceFlags & 1) !== 0 : isSampledRoot(traceId);

  function rootSampling(kind: string): (traceId: string) => boolean {
    if (kind === "always_off") return () => false;
    if (kind !== "traceidratio") return () => true;
    const share = variable("OTEL_TRACES_SAMPLER_ARG");
    const isShare = share !== "" && Number(share) >= 0 && Number(share) <= 1;
    // The sampler looks at the ID alone.
    const sampler = new Ratio(isShare ? Number(share) : 1);
    const [context, noLinks] = [{} as Context, [] as Link[]];
    return (traceId) => sampler.shouldSample(context, traceId, "", 0, {}, noLinks).decision !== 0;
  }
}
