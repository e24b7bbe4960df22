import { mayUse } from "./layers.ts";

/** Methods of the interfaces of the state store, by the type of the interface. */
export const STORE_METHODS: Readonly<Record<string, readonly string[]>> = {
  OwnerStore: ["findBinding", "findBindings", "bind", "unbind"],
  ResponseStore: ["findBinding", "findBindings", "bind", "unbind", "find", "store", "findItems"],
  ConversationStore: [
    "create",
    "find",
    "findRest",
    "setMetadata",
    "append",
    "removeItem",
    "delete",
    "findItems",
  ],
  ReasoningStore: ["find", "store"],
  OutcomeStore: ["storeResponse", "bind", "addTurn", "unbind"],
  CachedResponses: ["get", "set"],
  PrivacyValues: ["find", "add"],
  StateStore: ["ping", "close"],
};

/**
 * Names by which an interface of the state store is called in an expression, such as
 * `state.objects.responses`.
 */
const NAMED_INTERFACES: Readonly<Record<string, string>> = {
  responses: "ResponseStore",
  conversations: "ConversationStore",
  reasoning: "ReasoningStore",
  outcomes: "OutcomeStore",
  cachedResponses: "CachedResponses",
  privacyValues: "PrivacyValues",
};

/** Exported functions that return what the state store has returned. */
export const STORING_FUNCTIONS: readonly string[] = [
  "bindObject",
  "bindResponse",
  "release",
  "storeReasoning",
  "storeResponse",
];

/** Methods with such a result that are called on objects of any name. */
const STORING_METHODS = ["storeOutcome", "identify"];

/** Methods of a promise that return a promise again. */
const CHAINED = ["then", "catch", "finally"];

const STORED_RESULT = /^:\s*(Stored<|Promise<(Result<|Failed\b))/;

type Call = Deno.lint.CallExpression;

/** Names that a file declares. */
interface Declared {
  /**
   * Imported functions of `STORING_FUNCTIONS`, and functions of the file whose annotated result is
   * `Stored`, or a promise of a `Result` or of `Failed`.
   */
  readonly functions: Set<string>;
  /**
   * Interfaces of the state store, by the names of the parameters and variables that have them as
   * type.
   */
  readonly interfaces: Map<string, string>;
}

/** Returns an expression without the nodes of `?.`, `!` and `as` around it. */
function bare(node: Deno.lint.Node): Deno.lint.Node {
  switch (node.type) {
    case "ChainExpression":
    case "TSNonNullExpression":
    case "TSAsExpression":
      return bare(node.expression);
    default:
      return node;
  }
}

/** Returns the calls whose result a statement drops: `a && b()` may drop the result of `b()`. */
function droppedCalls(wrapped: Deno.lint.Node): readonly Call[] {
  const node = bare(wrapped);
  switch (node.type) {
    case "CallExpression": {
      const callee = bare(node.callee);
      const isChained = callee.type === "MemberExpression" &&
        CHAINED.includes(nameOf(callee) ?? "");
      return isChained ? [node, ...droppedCalls(callee.object)] : [node];
    }
    case "UnaryExpression":
      return droppedCalls(node.argument);
    case "LogicalExpression":
      return droppedCalls(node.right);
    case "ConditionalExpression":
      return [...droppedCalls(node.consequent), ...droppedCalls(node.alternate)];
    case "SequenceExpression":
      return node.expressions.flatMap(droppedCalls);
    default:
      return [];
  }
}

/** Returns the name of a member: `b` of `a.b` and of `a["b"]`; null for a computed one. */
function nameOf({ computed, property }: Deno.lint.MemberExpression): string | null {
  if (!computed) return property.type === "Identifier" ? property.name : null;
  return property.type === "Literal" && typeof property.value === "string" ? property.value : null;
}

/** Returns the interface of the state store that an expression has; null if it has none. */
function interfaceOf(wrapped: Deno.lint.Node, { interfaces }: Declared): string | null {
  const node = bare(wrapped);
  switch (node.type) {
    case "Identifier":
      return interfaces.get(node.name) ?? NAMED_INTERFACES[node.name] ?? null;
    case "CallExpression":
      return node.callee.type === "Identifier" && node.callee.name === "ownerStore"
        ? "OwnerStore"
        : null;
    case "MemberExpression": {
      const object = bare(node.object);
      const outer = object.type === "MemberExpression"
        ? nameOf(object)
        : object.type === "Identifier"
        ? object.name
        : null;
      return outer === "owners" ? "OwnerStore" : NAMED_INTERFACES[nameOf(node) ?? ""] ?? null;
    }
    default:
      return null;
  }
}

/** True if a call returns what the state store has returned. */
function isStoring(call: Call, declared: Declared): boolean {
  const callee = bare(call.callee);
  if (callee.type === "Identifier") return declared.functions.has(callee.name);
  if (callee.type !== "MemberExpression") return false;
  const name = nameOf(callee) ?? "";
  if (STORING_METHODS.includes(name)) return true;
  const store = interfaceOf(callee.object, declared);
  return store !== null && (STORE_METHODS[store]?.includes(name) ?? false);
}

/**
 * Lint rule against a forgotten `await`: no statement, and no `void`, drops the result of a call of
 * the state store, because a failed write must not look like a successful one. Lint rules know no
 * types, so these calls are of the store:
 * - a method of `STORE_METHODS` on `responses`, `conversations`, `reasoning`, `outcomes` or
 *   `cachedResponses`, with or without a path such as `state.objects` before it, on a member of
 *   `owners`, or on `ownerStore(…)`
 * - such a method on a parameter or variable whose type is annotated as an interface of the store
 * - an imported function of `STORING_FUNCTIONS`, and a function of the same file that is declared
 *   to return `Stored`, or a promise of a `Result` or of `Failed`
 * - `storeOutcome` and `identify` of any object `.then`, `.catch` and `.finally` after such a call
 *   do not change that. Folders that may not import `store` are not checked.
 */
const awaits: Deno.lint.Plugin = {
  name: "awaits",
  rules: {
    store: {
      create(context) {
        if (!mayUse(context.filename, "store")) return {};
        const declared: Declared = { functions: new Set(), interfaces: new Map() };
        const dropped = new Set<Call>();

        function declare(name: string, annotation: Deno.lint.Node | null | undefined): void {
          if (!annotation) return;
          const text = context.sourceCode.getText(annotation);
          if (STORED_RESULT.test(text)) declared.functions.add(name);
        }

        return {
          ExpressionStatement({ expression }) {
            for (const call of droppedCalls(expression)) dropped.add(call);
          },
          UnaryExpression({ operator, argument }) {
            if (operator !== "void") return;
            for (const call of droppedCalls(argument)) dropped.add(call);
          },
          ImportSpecifier({ imported, local }) {
            const name = imported.type === "Identifier" ? imported.name : imported.value;
            if (STORING_FUNCTIONS.includes(name)) declared.functions.add(local.name);
          },
          FunctionDeclaration: ({ id, returnType }) => id && declare(id.name, returnType),
          VariableDeclarator({ id, init }) {
            if (id.type !== "Identifier") return;
            if (init?.type === "ArrowFunctionExpression") declare(id.name, init.returnType);
          },
          Identifier({ name, typeAnnotation }) {
            const type = typeAnnotation?.typeAnnotation;
            if (type?.type !== "TSTypeReference" || type.typeName.type !== "Identifier") return;
            const { name: port } = type.typeName;
            if (Object.hasOwn(STORE_METHODS, port)) declared.interfaces.set(name, port);
          },
          "Program:exit"() {
            for (const node of dropped) {
              if (!isStoring(node, declared)) continue;
              context.report({
                node,
                message: "the result of the state store is dropped",
                hint: "Await it and handle its failure, or return it.",
              });
            }
          },
        };
      },
    },
  },
};

export default awaits;
