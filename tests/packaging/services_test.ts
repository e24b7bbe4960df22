import { optionValue, parseArguments } from "../../src/cli/arguments.ts";
import { serve } from "../../src/cli/serve.ts";
import { configOf, withSection } from "../config/parse.ts";
import { assert, assertEquals } from "../support/assert.ts";

const DEPLOY = new URL("../../scripts/deploy/", import.meta.url);

/** An element of an XML document with its elements, or its text if it has none. */
interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  readonly text: string;
}

/** Parses the XML of service files: elements, attributes, texts and comments. */
async function parseXml(path: string): Promise<Element> {
  const text = await Deno.readTextFile(new URL(path, DEPLOY));
  const plain = `${text.replace(/<\?.*?\?>|<!DOCTYPE[^>]*>|<!--.*?-->/gs, "")}</document>`;
  const pieces = plain.matchAll(/<(\/?)([\w.]+)((?: [\w.]+="[^"]*")*) ?(\/?)>|([^<>]+)/gy);
  let length = 0;

  function parseElement(name: string, written: string, isEmpty: boolean): Element {
    const attributes = Object.fromEntries(
      [...written.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, value]),
    );
    const children: Element[] = [];
    let inner = "";
    while (!isEmpty) {
      const { value, done } = pieces.next();
      assert(done !== true, `${path}: ${name} is not closed`);
      const [piece, slash, tag = "", rest = "", end, content] = value;
      length += piece.length;
      if (content !== undefined) inner += content;
      else if (slash === "/") {
        assertEquals(tag, name, path);
        break;
      } else children.push(parseElement(tag, rest, end === "/"));
    }
    return { name, attributes, children, text: inner.trim() };
  }

  const document = parseElement("document", "", false);
  const [root] = document.children;
  assert(root !== undefined && document.children.length === 1 && length === plain.length, path);
  return root;
}

type Plain = string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain };

/** Returns the value of an element of a property list. */
function plistValue({ name, children, text }: Element): Plain {
  switch (name) {
    case "dict": {
      const pairs = children.flatMap(({ name, text }, index) => {
        const value = children[index + 1];
        return name === "key" && value !== undefined ? [[text, plistValue(value)] as const] : [];
      });
      assertEquals(pairs.length * 2, children.length);
      return Object.fromEntries(pairs);
    }
    case "array":
      return children.map(plistValue);
    case "integer":
      return Number(text);
    case "true":
    case "false":
      return name === "true";
    default:
      return text;
  }
}

/** Fails unless the program knows the arguments. Returns the configuration that they name. */
function configNamed(args: readonly string[]): string | undefined {
  const parsed = parseArguments(args, serve.options);
  assert(parsed.ok, parsed.ok ? "" : parsed.trouble);
  return optionValue(parsed.values, "config");
}

/** Milliseconds that a supervisor must wait for the end, with the default configuration. */
function patience(): number {
  const { drain_delay, drain_timeout } = configOf(withSection()).server;
  return drain_delay + drain_timeout + 10_000;
}

Deno.test("the launchd daemon serves its configuration, starts again after a failure and has time to drain", async () => {
  const document = await parseXml("launchd/switchyard.plist");
  assertEquals(document.name, "plist");
  const [dict] = document.children;
  assert(dict !== undefined);
  const values = Object(plistValue(dict));
  const [program, ...args] = values.ProgramArguments;
  assertEquals(program, "/usr/local/bin/switchyard");
  // The keys are in a file of the working directory, which only the service can read.
  assertEquals(configNamed(args), `${values.WorkingDirectory}/config.yaml`);
  assertEquals([values.UserName, values.Umask], ["_switchyard", 0o077]);
  assertEquals([values.RunAtLoad, values.KeepAlive], [true, { SuccessfulExit: false }]);
  assert(values.ExitTimeOut * 1000 >= patience());
  assertEquals(values.SoftResourceLimits.Core, 0);
});

Deno.test("the Windows service serves its configuration, starts again after a failure and has time to drain", async () => {
  const { name, children } = await parseXml("windows/switchyard-service.xml");
  assertEquals(name, "service");
  const values = new Map(children.map((child) => [child.name, child]));
  const textOf = (key: string) => values.get(key)?.text ?? "";
  assertEquals(textOf("executable"), "%BASE%\\switchyard.exe");
  const words = textOf("arguments").match(/"[^"]*"|\S+/g) ?? [];
  const config = configNamed(words.map((word) => word.replaceAll('"', "")));
  assertEquals(config, `${textOf("workingdirectory")}\\config.yaml`);
  const account = values.get("serviceaccount")?.children.map(({ name, text }) => [name, text]);
  assertEquals(account, [
    ["username", "NT AUTHORITY\\LocalService"],
    ["domain", "NT AUTHORITY"],
    ["user", "LocalService"],
  ]);
  assertEquals(values.get("onfailure")?.attributes.action, "restart");
  const [, seconds] = /^(\d+) sec$/.exec(textOf("stoptimeout")) ?? [];
  assert(Number(seconds) * 1000 >= patience());
});
