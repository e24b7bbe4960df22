/**
 * Folders under src, and files directly in it, with the folders that each may import besides
 * itself.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[] | "everything">> = {
  core: [],
  runtime: ["core"],
  formats: ["core"],
  data: ["core"],
  traffic: ["core", "data"],
  http_client: ["core", "runtime"],
  store: ["core", "runtime", "formats", "data", "traffic"],
  config: ["core", "formats", "data", "http_client"],
  import: ["core", "config", "data"],
  observe: ["core", "formats", "config", "data"],
  simulator: ["core", "formats"],
  prompt: ["core", "config"],
  privacy: ["core", "formats", "config"],
  wires: ["core", "formats", "config", "data", "prompt"],
  access: ["core", "wires", "store", "traffic", "observe"],
  call: ["core", "config", "prompt", "privacy", "wires", "store", "traffic", "observe", "access"],
  redaction: ["core", "formats", "privacy", "store", "traffic", "call"],
  routing: ["core", "config", "data", "store", "traffic", "prompt", "wires", "access", "call"],
  gateway: [
    "core",
    "config",
    "prompt",
    "privacy",
    "wires",
    "store",
    "traffic",
    "observe",
    "access",
    "call",
    "routing",
  ],
  credentials: ["core", "formats", "config", "data", "observe", "call"],
  upstream: [
    "core",
    "formats",
    "config",
    "store",
    "traffic",
    "wires",
    "access",
    "call",
    "redaction",
    "routing",
  ],
  cache: ["core", "store", "wires", "call"],
  attempts: [
    "core",
    "config",
    "store",
    "traffic",
    "observe",
    "call",
    "access",
    "routing",
    "upstream",
  ],
  "exchange.ts": [
    "core",
    "store",
    "traffic",
    "wires",
    "call",
    "routing",
    "cache",
    "attempts",
    "upstream",
  ],
  api: [
    "core",
    "formats",
    "data",
    "store",
    "traffic",
    "prompt",
    "privacy",
    "wires",
    "access",
    "call",
    "redaction",
    "routing",
    "exchange.ts",
  ],
  server: [
    "core",
    "runtime",
    "formats",
    "config",
    "store",
    "traffic",
    "observe",
    "privacy",
    "access",
    "call",
    "redaction",
    "gateway",
    "api",
  ],
  record: [
    "core",
    "formats",
    "config",
    "data",
    "store",
    "observe",
    "privacy",
    "access",
    "call",
    "redaction",
  ],
  replay: [
    "core",
    "formats",
    "config",
    "store",
    "wires",
    "observe",
    "access",
    "call",
    "gateway",
    "routing",
    "traffic",
    "upstream",
    "server",
    "record",
  ],
  remote: ["core", "formats", "config", "observe", "access", "call", "routing", "gateway"],
  admin: [
    "core",
    "config",
    "store",
    "traffic",
    "observe",
    "access",
    "call",
    "gateway",
    "routing",
    "record",
  ],
  workers: ["core", "config", "observe"],
  cli: "everything",
};

/** Packages that only some folders may import. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "@hono/hono": ["server"],
  hono: ["server"],
  zod: ["config", "record"],
  yaml: ["config", "import"],
  jose: ["access"],
  re2js: ["config", "wires", "privacy", "record"],
  "node:sqlite": ["store"],
  iovalkey: ["store"],
};

/** Folders whose subfolders must not import each other; files directly in them may import each. */
const SEPARATE = ["wires", "api"];

/** Subfolders of them that each subfolder may import. */
const SHARED = [
  "wires/openai",
  "wires/verified",
  "api/stored",
  "api/items",
  "api/reasoning",
  "api/generate",
];

const ROOT = new URL("../../", import.meta.url);
const SOURCE = new URL("src/", ROOT).href;

/**
 * Returns the problem of an import; null if it is allowed. Files outside src may import anything.
 * `importer` is the absolute path of the file.
 */
export function complaint(importer: string, specifier: string): string | null {
  const file = new URL(importer, "file:///").href;
  if (!file.startsWith(SOURCE)) return null;
  const from = file.slice(SOURCE.length).split("/");
  return isPath(specifier)
    ? pathComplaint(from, new URL(specifier, file).href)
    : packageComplaint(from, specifier);
}

/** True if the import table lets a file use a folder of src; a file outside src may use all. */
export function mayUse(filename: string, folder: string): boolean {
  const file = new URL(filename, "file:///").href;
  if (!file.startsWith(SOURCE)) return true;
  const [layer = ""] = file.slice(SOURCE.length).split("/");
  const allowed = MAY_IMPORT[layer] ?? [];
  return layer === folder || allowed === "everything" || allowed.includes(folder);
}

function isPath(specifier: string): boolean {
  return /^(\.|\/|file:)/.test(specifier);
}

function pathComplaint(from: readonly string[], target: string): string | null {
  if (!target.startsWith(SOURCE)) {
    // deno.json holds the version; the pages of docs/ are part of the executable.
    const isData = target.endsWith(".json") || (from[0] === "cli" && target.endsWith(".md"));
    return isData ? null : "src must not import files outside src";
  }
  const to = target.slice(SOURCE.length).split("/");
  const [layer = "", inside = ""] = from;
  const [other = "", otherInside = ""] = to;
  if (layer === other) {
    const crosses = SEPARATE.includes(layer) && from.length > 2 && to.length > 2 &&
      inside !== otherInside &&
      !SHARED.includes(`${layer}/${otherInside}`);
    return crosses ? `${layer}/${inside} must not import ${layer}/${otherInside}` : null;
  }
  const allowed = MAY_IMPORT[layer];
  if (allowed === undefined) return `src/${layer} has no line in the import table`;
  return allowed === "everything" || allowed.includes(other)
    ? null
    : `${layer} must not import ${other}`;
}

function packageComplaint(from: readonly string[], specifier: string): string | null {
  const name = packageName(specifier);
  const owners = PACKAGES[name];
  const [layer = ""] = from;
  if (owners === undefined || owners.includes(layer)) return null;
  return `${layer} must not import ${name}: only ${owners.join(" and ")} may`;
}

/** Returns the package of a specifier: `npm:/@scope/name@1.2/sub` gives `@scope/name`. */
function packageName(specifier: string): string {
  const [first = "", second = ""] = specifier.replace(/^(npm|jsr):\/?/, "").split("/");
  return first.startsWith("@")
    ? `${first}/${second.replace(/@.*/, "")}`
    : first.replace(/(.)@.*/, "$1");
}

function literalText(node: Deno.lint.Node | null): string | null {
  return node?.type === "Literal" && typeof node.value === "string" ? node.value : null;
}

/** Folders of src, and files directly in it, most of whose objects live for one request. */
const FLEETING = [
  "api",
  "attempts",
  "cache",
  "core",
  "exchange.ts",
  "formats",
  "http_client",
  "routing",
  "upstream",
  "wires",
];

/** True if most objects of this file are made for one request. */
function isFleeting(filename: string): boolean {
  const file = new URL(filename, "file:///").href;
  const [layer = ""] = file.startsWith(SOURCE) ? file.slice(SOURCE.length).split("/") : [];
  return FLEETING.includes(layer);
}

/** Lint rules for the imports between the folders of src, and for accessors of objects. */
const plugin: Deno.lint.Plugin = {
  name: "layers",
  rules: {
    // V8 gives each such object its own hidden class, out of the young generation's reach. It keeps
    // all that the getter closes over until a full collection: that was a quarter of all time.
    accessors: {
      create(context) {
        return {
          Property(node) {
            if (node.kind === "init" || !isFleeting(context.filename)) return;
            context.report({
              node,
              message: "an object made for a request has an accessor",
              hint: "Make it a method.",
            });
          },
        };
      },
    },
    imports: {
      create(context) {
        function check(node: Deno.lint.Node, source: Deno.lint.Node | null) {
          const specifier = literalText(source);
          const message = specifier === null ? null : complaint(context.filename, specifier);
          if (message === null) return;
          context.report({
            node,
            message,
            hint: "The import table is in scripts/tools/layers.ts.",
          });
        }
        return {
          ImportDeclaration: (node) => check(node, node.source),
          ExportNamedDeclaration: (node) => check(node, node.source),
          ExportAllDeclaration: (node) => check(node, node.source),
          ImportExpression: (node) => check(node, node.source),
          TSImportType(node) {
            const { argument } = node;
            check(node, argument.type === "TSLiteralType" ? argument.literal : null);
          },
        };
      },
    },
  },
};

export default plugin;
