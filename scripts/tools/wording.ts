/** Words that comments and test names replace with the field's own: see CONTRIBUTING.md. */
const FORBIDDEN_WORDS = new RegExp(
  "\\b(told|tells?|so\\s+many|whoever|nobody|anew|stands|goes\\s+out|left\\s+alone|the\\s+others|" +
    "of\\s+its\\s+own|away|beside|all\\s+the\\s+same|seen|got|asked|theirs|for\\s+ever|an\\s+own|" +
    "goes\\s+on)\\b",
  "gi",
);

/** Width of the formatter, which does not fold comments. */
const MAX_COMMENT_CHARS = 100;

/** Prefixes of the name of a numeric constant that is a bound or a default. */
const BOUNDS = ["MAX", "MIN", "DEFAULT"];

/**
 * Suffixes of the name of any other numeric constant. `COUNT` is for a number of things, `RATIO`
 * for a share of 1, `CODE` and `STATUS` for a number that a protocol gives a meaning, `OFFSET` for
 * bytes from the beginning of a structure, `INDEX` for a position in a list.
 */
const UNITS = [
  "MS",
  "S",
  "BYTES",
  "CHARS",
  "ITEMS",
  "RECORDS",
  "EVENTS",
  "COUNT",
  "RATIO",
  "PORT",
  "STATUS",
  "CODE",
  "OFFSET",
  "INDEX",
];

/** Names that are units themselves. */
const FACTORS = ["KB", "KIB", "MIB", "MILLION"];

/** Names that a character or a constant of the C library has everywhere. */
const STANDARD_NAMES =
  /^(LF|CR|SPACE|QUOTE|BACKSLASH|COLON|COMMA|ZERO|NINE|BYTE_ORDER_MARK|(OPEN|CLOSE)_(ARRAY|OBJECT|BRACE|BRACKET)|(AF|SOL|SO|IPPROTO|TCP|SHUT|O)_[A-Z0-9_]+|FIONREAD)$/;

const METAPHORS = ["MOST", "LARGEST", "LONGEST", "SHORTEST", "DEEPEST", "PATIENCE", "GRACE"];

/**
 * Lists the forbidden words of a comment or a test name, in their order, each once. A name of code
 * in backticks may be any word.
 */
export function forbiddenWords(text: string): readonly string[] {
  const prose = text.replace(/\n\s*\*/g, "\n").replace(/`[^`]*`/g, "`");
  const found = prose.match(FORBIDDEN_WORDS) ?? [];
  return [...new Set(found.map((word) => word.toLowerCase().replace(/\s+/g, " ")))];
}

/**
 * Returns the lines of a comment that can be folded and are not. Tags of JSDoc, rows of tables and
 * single words cannot.
 */
export function wideLines(lines: string): readonly string[] {
  return lines.split("\n").filter((line) =>
    [...line].length > MAX_COMMENT_CHARS && /^\s*(?:\/\*\*|\*|\/\/) [^@|\s]\S* /.test(line)
  );
}

/** True for a docstring of src whose first word is "What": the subject is missing. */
export function hasNoSubject(filename: string, comment: string): boolean {
  return filename.includes("/src/") && /^\*[\s*]*What\s/.test(comment);
}

/** Messages with another word than "provider" and "response" for the other end. */
const MIXED_WORDS = /\bThe upstream\b|\b[Pp]rovider(?:'s answer|\s+answered)\b/;

/**
 * True for a text of the gateway that names the other end by another word than the rest of its
 * messages. The simulator is an upstream of its kind, and says so.
 */
export function mixesWords(filename: string, text: string): boolean {
  const [, folder = ""] = /\/src\/(\w+)\//.exec(filename) ?? [];
  return folder !== "" && folder !== "simulator" && MIXED_WORDS.test(text);
}

/**
 * Returns the text of a test name, with a space for each inserted value; null if it is no literal.
 */
function nameText(node: Deno.lint.Node | undefined): string | null {
  if (node?.type === "Literal") return typeof node.value === "string" ? node.value : null;
  if (node?.type === "TemplateLiteral") return node.quasis.map(({ cooked }) => cooked).join(" ");
  if (node?.type !== "ObjectExpression") return null;
  const name = node.properties.find((property) =>
    property.type === "Property" && property.key.type === "Identifier" &&
    property.key.name === "name"
  );
  return name?.type === "Property" ? nameText(name.value) : null;
}

/** True for a call of `Deno.test` or of `t.step`. */
function isTest({ callee }: Deno.lint.CallExpression): boolean {
  if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return false;
  const { object, property } = callee;
  if (property.name === "step") return true;
  return property.name === "test" && object.type === "Identifier" && object.name === "Deno";
}

/** True if an initial value is a number that is written out, or arithmetic with one. */
function isNumeric(node: Deno.lint.Node | null): boolean {
  if (node?.type === "Literal") return typeof node.value === "number";
  if (node?.type === "UnaryExpression") return isNumeric(node.argument);
  if (node?.type !== "BinaryExpression") return false;
  if (node.operator === "+") return isNumeric(node.left) && isNumeric(node.right);
  return ["-", "*", "/", "%", "**"].includes(node.operator);
}

/** Says what is wrong with the name of a numeric constant of a module; null if nothing is. */
export function numberComplaint(name: string): string | null {
  if (FACTORS.includes(name) || STANDARD_NAMES.test(name)) return null;
  const parts = name.split("_");
  const isNamed = parts.length > 1 &&
    (BOUNDS.includes(parts[0] ?? "") || UNITS.includes(parts.at(-1) ?? ""));
  return isNamed ? null : `the number ${name} has neither bound nor unit in its name`;
}

const wording: Deno.lint.Plugin = {
  name: "wording",
  rules: {
    words: {
      create(context) {
        function check(range: Deno.lint.Range, text: string, where: string) {
          for (const word of forbiddenWords(text)) {
            context.report({
              range,
              message: `${where} says "${word}"`,
              hint: "Use the nouns of the field: see the rules for words in CONTRIBUTING.md.",
            });
          }
        }
        return {
          Program() {
            for (const { range, value } of context.sourceCode.getAllComments()) {
              check(range, value, "a comment");
              if (!hasNoSubject(context.filename, value)) continue;
              context.report({
                range,
                message: 'a docstring begins with "What"',
                hint: "Name the thing: context, dependencies, facts, result, state.",
              });
            }
          },
          CallExpression(node) {
            const [name] = node.arguments;
            const text = isTest(node) ? nameText(name) : null;
            if (text !== null && name !== undefined) check(name.range, text, "a test name");
          },
        };
      },
    },
    width: {
      create(context) {
        return {
          Program() {
            const { text } = context.sourceCode;
            for (const { range: [start, end] } of context.sourceCode.getAllComments()) {
              const line = text.lastIndexOf("\n", start - 1) + 1;
              if (wideLines(text.slice(line, end)).length === 0) continue;
              context.report({
                range: [start, end],
                message: `a line of a comment has more than ${MAX_COMMENT_CHARS} characters`,
                hint: "Fold it: the formatter leaves comments as they are.",
              });
            }
          },
        };
      },
    },
    messages: {
      create(context) {
        function check(range: Deno.lint.Range, text: string) {
          if (!mixesWords(context.filename, text)) return;
          context.report({
            range,
            message: "a message has another word for the provider or its response",
            hint: 'Messages say "provider" and "response".',
          });
        }
        return {
          Literal({ value, range }) {
            if (typeof value === "string") check(range, value);
          },
          TemplateElement: ({ range, cooked }) => check(range, cooked),
        };
      },
    },
    numbers: {
      create(context) {
        return {
          VariableDeclarator(node) {
            if (node.id.type !== "Identifier" || !/^[A-Z][A-Z0-9_]*$/.test(node.id.name)) return;
            const { name } = node.id;
            const metaphor = name.split("_").find((part) => METAPHORS.includes(part));
            const declared = node.parent.parent.type;
            const isModuleLevel = declared === "Program" || declared === "ExportNamedDeclaration";
            const message = metaphor !== undefined
              ? `the name ${name} says ${metaphor}`
              : isModuleLevel && isNumeric(node.init)
              ? numberComplaint(name)
              : null;
            if (message === null) return;
            context.report({
              node: node.id,
              message,
              hint: `Begin it with ${BOUNDS.join("_, ")}_ or end it in _${UNITS.join(", _")}.`,
            });
          },
        };
      },
    },
  },
};

export default wording;
