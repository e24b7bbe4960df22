import { Cancellation } from "../../src/core/cancellation.ts";
import { newFileSource } from "../../src/credentials/file.ts";
import { assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";
import { token } from "./scripted_source.ts";
import { credentialOf } from "./token_server.ts";

const WORLD = scriptedWorld();

async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Returns the token that is read from a file, or the reason why there is none. */
async function read(path: string, more = ""): Promise<unknown> {
  const source = newFileSource(credentialOf(`type: file, path: "${path}"${more}`), {
    world: WORLD,
  });
  const fetched = await source.fetch(new Cancellation());
  return fetched.ok ? fetched.issued : fetched.reason;
}

Deno.test("the token of a file is its text without blanks at its ends", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/token`;
    // Programs of Windows begin a file with a byte order mark, and end lines with two characters.
    for (const text of ["  token-1\n", "\ufefftoken-1\r\n"]) {
      await Deno.writeTextFile(path, text);
      assertEquals(await read(path), token("token-1", null));
    }
    await Deno.writeTextFile(path, '\ufeff{"token": "token-1"}\r\n');
    assertEquals(await read(path, ", field: token"), token("token-1", null));
  });
});

Deno.test("a file behind a swapped link is read, as Kubernetes replaces secrets", async () => {
  await inFolder(async (folder) => {
    for (const version of ["1", "2"]) {
      await Deno.mkdir(`${folder}/${version}`);
      await Deno.writeTextFile(`${folder}/${version}/token`, `token-${version}`);
      await Deno.symlink(version, `${folder}/next`);
      await Deno.rename(`${folder}/next`, `${folder}/data`);
      assertEquals(await read(`${folder}/data/token`), token(`token-${version}`, null));
    }
  });
});

Deno.test("a file without one line of text is no token", async () => {
  const noToken = "the file has no token: one line of ASCII text without blanks";
  const texts = [
    ["", noToken],
    [" \n", noToken],
    ["two words", noToken],
    ["a\nb", noToken],
    ["tökén", noToken],
    ["x".repeat(20_000), noToken],
    ["x".repeat(100_000), "the file has more than 64 KiB"],
  ] as const;
  await inFolder(async (folder) => {
    for (const [text, reason] of texts) {
      await Deno.writeTextFile(`${folder}/token`, text);
      assertEquals(await read(`${folder}/token`), reason);
    }
    assertEquals(await read(`${folder}/missing`), "the file does not exist");
    // The read of a pipe would wait for its writer.
    assertEquals(await read("/dev/zero"), "the file is not a regular file");
    assertEquals(await read(folder), "the file is not a regular file");
  });
});

Deno.test("a member of a JSON file is the token, and another one its end", async () => {
  const more = ", field: token, expires_field: ends";
  const endsMs = WORLD.wall() + 60_000;
  const noTime = "expires_field of the file is not a time";
  const cases: readonly (readonly [text: string, expected: unknown])[] = [
    [JSON.stringify({ token: "t", ends: endsMs / 1_000 }), token("t", endsMs)],
    [JSON.stringify({ token: "t", ends: String(endsMs / 1_000) }), token("t", endsMs)],
    [JSON.stringify({ token: "t", ends: new Date(endsMs).toISOString() }), token("t", endsMs)],
    [JSON.stringify({ token: "t", ends: "soon" }), noTime],
    [JSON.stringify({ token: "t" }), noTime],
    [JSON.stringify({ token: "t", ends: endsMs * 1_000_000 }), noTime],
    ['{"token": "t", "ends": 1e400}', noTime],
    [JSON.stringify({ token: "t", ends: 1 }), "the token of the file has ended"],
    ['{"token": "t", "en', "the file is no JSON object"],
    [
      JSON.stringify({ ends: endsMs / 1_000 }),
      "the file has no token: one line of ASCII text without blanks",
    ],
  ];
  await inFolder(async (folder) => {
    for (const [text, expected] of cases) {
      await Deno.writeTextFile(`${folder}/token`, text);
      assertEquals(await read(`${folder}/token`, more), expected, text);
    }
  });
});
