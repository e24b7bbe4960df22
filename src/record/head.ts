import { roundedMs } from "../observe/access_log.ts";
import type { Config } from "../config/schema.ts";
import { isInGroup } from "../config/templates.ts";
import { VERSION } from "../core/build.ts";
import { SECRET_NAME } from "../core/secret_name.ts";
import { SESSION_HEADERS } from "../core/session.ts";
import { textBeginning } from "../core/text_beginning.ts";
import { codeOf } from "../core/failure/failure.ts";
import type { ClientKey } from "../access/client_key.ts";
import type { Call } from "../call/call.ts";
import { actedRules, gatewayFields } from "../observe/gateway_fields.ts";
import { isPrivateHeader } from "../access/presented_key.ts";
import { endOf } from "../observe/report.ts";
import { configDigest } from "./config_digest.ts";
import type { PartMask } from "./mask_parts.ts";
import type { RecordHead } from "./record.ts";
import { type KnownHead, MAX_KNOWN_NAME_CHARS } from "./written_record.ts";

/** Members of a head besides the facts of its call. */
interface HeadParts {
  readonly mask: PartMask;
  readonly why: RecordHead["why"];
  readonly cut: readonly string[];
  readonly routedBy: Config;
}

/** Returns the head of a finished call. */
export function recordHead(call: Call, { mask, why, cut, routedBy }: HeadParts): KnownHead {
  const { report, client: { key } } = call;
  const { usage, units, attempts, ms, failure } = report;
  return {
    method: report.method,
    path: shortened(mask.path(report.path)) ?? "",
    api: report.endpoint.api,
    key: key?.name ?? null,
    groups: key === null ? [] : groupsOf(call, key),
    template: report.template,
    issuer: report.issuer,
    end_user: report.endUser,
    labels: key === null ? {} : Object.fromEntries(key.labels),
    session: shortened(maskedName(report.session, mask)),
    route: report.route,
    model_requested: shortened(maskedName(call.controls.model ?? report.requestedModel, mask)),
    conversation_items: report.conversationItems,
    stream: report.stream,
    status: report.status,
    end: endOf(report),
    code: failure === null ? null : codeOf(failure),
    attempts: attempts.map(({ provider, key, model, outcome, began, ended }) => ({
      provider,
      key,
      model: shortened(mask.text(model)) ?? "",
      outcome,
      began: roundedMs(began),
      ended: roundedMs(ended),
    })),
    fallbacks: report.fallbacks,
    cache: report.cache,
    lossy: report.lossy.map(mask.text),
    verified: report.verified.map(mask.text),
    redacted: actedRules(report.privacy),
    usage: usage === null ? null : {
      input: usage.input,
      output: usage.output,
      total: usage.total,
      cached: usage.cached,
      cache_write: usage.cacheWrite,
      reasoning: usage.reasoning,
    },
    units: units === null ? null : { ...units },
    cost: report.cost,
    ms: { first: roundedMs(ms.firstToken), total: roundedMs(ms.total) },
    generation: configDigest(routedBy),
    version: VERSION,
    why: [...why],
    cut: [...cut],
  };
}

function maskedName(name: string | null, mask: PartMask): string | null {
  return name === null ? null : mask.text(name);
}

function groupsOf({ generation, report }: Call, { name, issuer }: ClientKey): string[] {
  // A client with a token is in no group by its name, which a key may have too.
  const member = { name: issuer === null ? name : "", template: report.template ?? undefined };
  return generation.config.security.groups.filter((group) => isInGroup(group, member))
    .map((group) => group.name);
}

function shortened(text: string | null): string | null {
  return text === null ? null : textBeginning(text, MAX_KNOWN_NAME_CHARS);
}

/** Request headers that may be recorded, besides those of the gateway and of routes. */
const RECORDED_HEADERS: ReadonlySet<string> = new Set([
  "content-type",
  "anthropic-version",
  "anthropic-beta",
  "openai-beta",
  "compat-beta",
  "messages-beta",
  "traceparent",
  ...SESSION_HEADERS.map(([name]) => name),
]);

/** Headers that are never recorded, whatever a route matches on. */
const SECRET_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "x-api-key",
  "cookie",
  "origin",
  "referer",
  "forwarded",
  "x-forwarded-for",
  "x-real-ip",
]);

/** Returns the headers of a request that a record may have. */
export function recordedHeaders(
  call: Call,
  mask: PartMask,
): Record<string, string> {
  const { headers, generation: { routes } } = call;
  const matched = new Set(routes.flatMap((route) => route.headers.map(([name]) => name)));
  const recorded: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (SECRET_HEADERS.has(name)) continue;
    const isOfGateway = name.startsWith("x-gateway-") && !SECRET_NAME.test(name);
    if (!RECORDED_HEADERS.has(name) && !isOfGateway && !matched.has(name)) continue;
    // Of an end user the head has a digest.
    if (!isPrivateHeader(name, call.generation, call.client.key)) {
      recorded[name] = mask.header(value);
    }
  }
  return recorded;
}

/** Returns the header fields of the gateway's response. */
export function respondedHeaders({ report }: Call, mask: PartMask): Record<string, string> {
  return Object.fromEntries(gatewayFields(report).map(([name, value]) => [name, mask.text(value)]));
}
