import { assertEquals } from "../../support/assert.ts";
import { assertFailed } from "../../support/translated.ts";
import { added, encodeFields } from "./encoded_request.ts";

const SEARCHING = { capabilities: { hosted_tools: ["web_search"] } };

Deno.test("a requested web search is sent as a tool, its location without nesting", () => {
  const approximate = { country: "CH", region: "BE", city: "Bern", timezone: "Europe/Zurich" };
  const options = {
    search_context_size: "high",
    user_location: { type: "approximate", approximate },
  };
  const f = { type: "function", name: "f", parameters: { type: "object" }, strict: false };
  const { type: _type, ...called } = f;
  const search = {
    type: "web_search",
    search_context_size: "high",
    user_location: { type: "approximate", ...approximate },
  };
  const fields = { web_search_options: options, tools: [{ type: "function", function: called }] };
  assertEquals<unknown>(added(fields, SEARCHING), {
    tools: [f, search],
    include: ["reasoning.encrypted_content"],
  });
});

Deno.test("empty search options request a search, absent options do not", () => {
  const bare = { tools: [{ type: "web_search" }] };
  assertEquals<unknown>(added({ web_search_options: {} }, SEARCHING), bare);
  const empty = { search_context_size: null, user_location: null };
  assertEquals<unknown>(added({ web_search_options: empty }, SEARCHING), bare);
  assertEquals<unknown>(added({ web_search_options: null }), {});
});

Deno.test("a web search is refused unless the provider declares it", () => {
  const asked = { web_search_options: {} };
  assertFailed(encodeFields(asked), "unsupported_feature", "web_search_options");
  const other = { capabilities: { hosted_tools: ["file_search"] } };
  assertFailed(encodeFields(asked, other), "unsupported_feature", "web_search_options");
});

Deno.test("a search option that cannot be translated is refused with its path", () => {
  const location = (user_location: unknown) => ({ user_location });
  const cases: readonly [Parameters<typeof assertFailed>[1], Record<string, unknown>, string][] = [
    ["unsupported_feature", { filters: {} }, ".filters"],
    ["invalid_type", { search_context_size: 1 }, ".search_context_size"],
    ["invalid_type", location("Bern"), ".user_location"],
    ["unsupported_feature", location({ type: "exact" }), ".user_location.type"],
    ["unsupported_feature", location({ type: "approximate", city: "Bern" }), ".user_location.city"],
    [
      "missing_required_parameter",
      location({ type: "approximate" }),
      ".user_location.approximate",
    ],
    [
      "invalid_type",
      location({ type: "approximate", approximate: [] }),
      ".user_location.approximate",
    ],
    [
      "unsupported_feature",
      location({ type: "approximate", approximate: { street: "x" } }),
      ".user_location.approximate.street",
    ],
  ];
  for (const [kind, options, path] of cases) {
    const asked = encodeFields({ web_search_options: options }, SEARCHING);
    assertFailed(asked, kind, `web_search_options${path}`);
  }
});
