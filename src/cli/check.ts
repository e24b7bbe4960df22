import { load } from "../config/load.ts";
import { usedCapabilities } from "../config/unused_keys.ts";
import { compile } from "../gateway/compile.ts";
import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import type { Wire } from "../wires/wire.ts";
import { optionValue } from "./arguments.ts";
import { type Command, CONFIG_OPTION, OK_STATUS, printProblems, USUAL_CONFIG } from "./command.ts";
import { unpricedLines } from "./unpriced.ts";
import { undeclaredLines } from "./undeclared.ts";
import {
  keysText,
  matchText,
  serverText,
  shareText,
  targetText,
  verifiedText,
  writtenRoutes,
} from "../routing/route_text.ts";

/** Command `switchyard check`: prints the routes of a configuration file, or all its problems. */
export const check: Command = {
  name: "check",
  about: "Checks a configuration file and prints its routes with what each target can do.",
  options: { config: CONFIG_OPTION },
  async run(options, terminal) {
    const path = optionValue(options, "config") ?? USUAL_CONFIG;
    const loaded = await load(path, terminal.environment);
    if (!loaded.ok) return printProblems(terminal, loaded.problems);
    const { host, port, workers } = loaded.config.server;
    const generation = compile(loaded.config, 1);
    const warnings = [...loaded.warnings, ...unpricedLines(generation)];
    const lines = [
      `${path} is valid.`,
      ...warnings.map((warning) => `Warning: ${warning}`),
      `Listens on ${host}, port ${port}${workersText(workers)}.`,
      ...routeTable(generation),
      "",
    ];
    terminal.out(lines.join("\n"));
    return OK_STATUS;
  },
};

function workersText(workers: number | "auto"): string {
  if (workers === "auto") return ", with one worker for each core";
  return workers === 1 ? "" : `, with ${workers} workers`;
}

function routeTable(generation: Generation): string[] {
  return writtenRoutes(generation).flatMap(({ route, match }) => [
    "",
    `Route ${route.name}: ${matchText(match)}`,
    `  strategy ${route.strategy}`,
    ...fixedModelLines(route),
    ...route.targets.flatMap((target) => targetLines(place(target, route), target)),
    ...route.fallback.flatMap((target, at) => targetLines(`fallback ${at + 1}`, target)),
  ]);
}

/** Returns a line for a route that matches every model and serves only those that its targets name. */
function fixedModelLines({ models, targets }: Route): string[] {
  const open = targets.filter(({ weight }) => weight > 0);
  if (models !== null || open.length === 0 || open.some(({ model }) => model === null)) return [];
  return [
    "  refuses requests for other models than those of its targets; to serve every model, leave out " +
    "'model' at a target and set 'default_model' at its provider",
  ];
}

function place(target: RouteTarget, route: Route): string {
  const open = route.targets.filter(({ weight }) => weight > 0);
  return target.weight > 0 ? shareText(target, open, route.strategy) : "drained";
}

function targetLines(label: string, target: RouteTarget): string[] {
  const indent = " ".repeat(14);
  return [
    `  ${label.padEnd(12)}${targetText(target)}: ${serverText(target)}`,
    ...capabilityLines(target).map((line) => `${indent}${line}`),
  ];
}

function capabilityLines(target: RouteTarget): string[] {
  const { provider, wire } = target;
  const { settings } = provider;
  const used = usedCapabilities(settings.type);
  const all = Object.entries(settings.capabilities).filter(([name]) => used.includes(name));
  const lists = all.flatMap(([name, value]) =>
    typeof value === "boolean" || value.length === 0 ? [] : [`${name}: ${value.join(", ")}`]
  );
  const on = all.filter(([, value]) => value === true).map(([name]) => name);
  return [
    `accepts: ${acceptedRequests(wire)}${
      provider.wire.embeddings === null ? "; no" : ","
    } embeddings`,
    ...(on.length === 0 ? [] : [`on: ${on.join(", ")}`]),
    ...lists,
    ...undeclaredLines(target),
    ...[verifiedText(target), keysText(target)].filter((text) => text !== null),
  ];
}

/** Returns the supported requests of a target besides embeddings. */
function acceptedRequests({ name }: Wire): string {
  switch (name) {
    case "compat":
      return "every chat field";
    case "responses":
      return "every Responses field, chat";
    case "messages":
    case "local":
      return "chat";
  }
}
