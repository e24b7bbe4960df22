import awaits, { STORE_METHODS, STORING_FUNCTIONS } from "../../../scripts/tools/awaits.ts";
import { newMemoryObjectStore } from "../../../src/store/memory/object_store.ts";
import { newDirectOutcomes } from "../../../src/store/outcome_store.ts";
import { assertEquals } from "../../support/assert.ts";

const ROOT = new URL("../../../", import.meta.url);

function reported(source: string, file = "src/api/chat/chat.ts"): string[] {
  const path = decodeURIComponent(new URL(file, ROOT).pathname);
  return Deno.lint.runPlugin(awaits, path, source).map(({ range: [from, to] }) =>
    source.slice(from, to)
  );
}

/** Checks that this call is reported as a statement, and not when its result is used. */
function assertStoring(call: string, before = "", after = ""): void {
  const inFunction = (statement: string) => `${before}async function f() { ${statement} } ${after}`;
  const dropped = [
    `${call};`,
    `void ${call};`,
    `if (a) ${call};`,
    `a && ${call};`,
    `a ?? void ${call};`,
    `a ? ${call} : b();`,
    `b(), ${call};`,
    `list.forEach((one) => void ${call});`,
  ];
  for (const statement of dropped) {
    assertEquals(reported(inFunction(statement)), [call], statement);
  }
  const used = [
    `await ${call};`,
    `return ${call};`,
    `const result = await ${call};`,
    `await Promise.all([${call}]);`,
    `void (await ${call});`,
    `if ((await ${call}).ok) b();`,
    `const later = () => ${call};`,
  ];
  for (const statement of used) assertEquals(reported(inFunction(statement)), [], statement);
}

Deno.test("a call of the state store whose result is dropped is reported", () => {
  assertStoring("state.objects.responses.store(id, response, caller)");
  assertStoring("call.state.objects.conversations.append(id, items)");
  assertStoring("objects.conversations.delete(id)");
  assertStoring("conversations.setMetadata(id, metadata)");
  assertStoring("responses?.bind(id, owner)");
  assertStoring("call?.state.objects?.conversations!.create(conversation)");
  assertStoring("reasoning.store(key, value)");
  assertStoring("state.objects.owners[type].bind(id, owner)");
  assertStoring("owners.chat_completion.unbind(id, account, caller)");
  assertStoring("ownerStore(objects, type).bind(id, owner)");
  assertStoring("state.outcomes.storeResponse(id, response, caller)");
  assertStoring("call.state.outcomes.addTurn(conversation, turn)");
  assertStoring("state.cachedResponses.set(key, response, ttlMs)");
});

Deno.test("a chain after a call of the state store does not make up for an await", () => {
  const call = "conversations.append(id, items)";
  for (const more of [".catch(log)", ".then(log).finally(done)", ".then(log, log)"]) {
    assertEquals(reported(`${call}${more};`), [call], more);
    assertEquals(reported(`void ${call}${more};`), [call], more);
  }
});

Deno.test("parameters and variables whose type is an interface of the store are known by it", () => {
  assertStoring("store.append(id, items)", "function g(store: ConversationStore) {}");
  assertStoring("opened.close()", "const opened: StateStore = await open();");
  assertStoring("shared.set(key, response, 1)", "", "const g = (shared: CachedResponses) => {};");
  assertEquals(reported("store.append(id, items); opened.close();"), []);
});

Deno.test("functions that return what the store has returned are known by name or annotation", () => {
  for (const name of STORING_FUNCTIONS) {
    assertStoring(`${name}(call, id)`, `import { ${name} } from "../../routing/ownership.ts";`);
    assertStoring("renamed(call, id)", `import { ${name} as renamed } from "../x.ts";`);
  }
  assertStoring("attempt.identify(id)");
  assertStoring("creation.storeOutcome(target, outcome)");
  const bodies = [
    "async function addTurn(): Promise<Result<void>> {}",
    "function addTurn(): Stored<Conversation> {}",
    "async function addTurn(): Promise<Failed | null> {}",
    "const addTurn = async (): Promise<Result<void>> => {};",
  ];
  for (const body of bodies) assertStoring("addTurn()", "", body);
  assertEquals(reported("addTurn(); async function addTurn(): Promise<void> {}"), []);
});

Deno.test("calls that only look like the store are not reported", () => {
  const sources = [
    "responses.push(response);",
    "conversations.set(id, conversation);",
    "items.delete(id);",
    "store.set(key, value, bytes);",
    "list.find(isFirst);",
    "cache.set(key, response);",
    "objects.stats();",
    "release(slot); function release(slot: Slot): void {}",
  ];
  for (const source of sources) assertEquals(reported(source), [], source);
});

Deno.test("folders that cannot know the store are not reported, tests are", () => {
  const source = "conversations.delete(id);";
  assertEquals(reported(source, "src/simulator/conversations.ts"), []);
  assertEquals(reported(source, "src/cli/run.ts").length, 1);
  assertEquals(reported(source, "src/store/sqlite/objects.ts").length, 1);
  assertEquals(reported(source, "tests/api/chat_test.ts").length, 1);
});

Deno.test("all methods of the interfaces of stored objects are checked", () => {
  const objects = newMemoryObjectStore(() => 0);
  const { responses, conversations, owners, reasoning } = objects;
  const stores = {
    OwnerStore: owners.conversation,
    ResponseStore: responses,
    ConversationStore: conversations,
    ReasoningStore: reasoning,
    OutcomeStore: newDirectOutcomes(objects),
  };
  for (const [name, store] of Object.entries(stores)) {
    const methods = Object.entries(store).filter(([, value]) => typeof value === "function");
    assertEquals(new Set(STORE_METHODS[name]), new Set(methods.map(([method]) => method)), name);
  }
});

Deno.test("all exported functions that write to the store are checked", async () => {
  const writer = /^export async function (\w+)[^]*?\): Promise<Result<void>> \{$/m;
  const names: string[] = [];
  for (const folder of ["src/api/", "src/call/", "src/redaction/", "src/routing/"]) {
    for await (const text of textsIn(new URL(folder, ROOT))) {
      for (const declaration of text.split(/^(?=export |async |function |\/\*\*)/m)) {
        const [, name] = writer.exec(declaration) ?? [];
        if (name !== undefined) names.push(name);
      }
    }
  }
  assertEquals(names.toSorted(), STORING_FUNCTIONS.toSorted());
});

/** Returns the texts of all TypeScript files in a folder and its subfolders. */
async function* textsIn(folder: URL): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* textsIn(new URL(`${name}/`, folder));
    else if (name.endsWith(".ts")) yield await Deno.readTextFile(new URL(name, folder));
  }
}
