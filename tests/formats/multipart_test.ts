import fc from "fast-check";
import { messageOf } from "../../src/core/failure/openai_error.ts";
import {
  formText,
  type MultipartBody,
  newFormParser,
  withModel,
} from "../../src/formats/multipart.ts";
import type { Result } from "../../src/core/failure/result.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";

const TYPE = "multipart/form-data; boundary=b0";
const encoder = new TextEncoder();

/** Returns one part with a name and a text. */
function part(name: string, text: string, more = ""): string {
  return `--b0\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${text}\r\n`;
}

/** Returns a form whose part `model` has this content type. */
function encodedModel(type: string): string {
  return `${part("model", "m", `\r\nContent-Type: ${type}`)}--b0--`;
}

const FORM = `${part("model", "up/m")}${
  part("file", "\r\n-\n--b1\r", '; filename="a \\"b\\".wav"')
}--b0--\r\n`;

/** Parses a body in pieces of this size. */
function parse(
  body: string | Uint8Array<ArrayBuffer>,
  type = TYPE,
  size = Infinity,
): Result<MultipartBody> {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const pieces = [];
  for (let at = 0; at < bytes.length; at += Math.min(size, bytes.length)) {
    pieces.push(bytes.subarray(at, at + size));
  }
  return parsePieces(pieces, type);
}

function parsePieces(
  pieces: readonly Uint8Array<ArrayBuffer>[],
  type = TYPE,
): Result<MultipartBody> {
  const parser = newFormParser(type);
  if (!parser.ok) return parser;
  for (const piece of pieces) {
    const problem = parser.value.push(piece);
    if (problem !== null) return problem;
  }
  return parser.value.end(pieces);
}

function join(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(pieces.flatMap((piece) => [...piece]));
}

for (const size of [1, 7, Infinity]) {
  Deno.test(`parts are found in pieces of ${size} bytes, and only the model changes`, () => {
    const form = parse(FORM, TYPE, size);
    assert(form.ok);
    assertEquals(form.value.parts.map(({ name, isFile }) => [name, isFile]), [
      ["model", false],
      ["file", true],
    ]);
    assertEquals([formText(form.value, "model"), formText(form.value, "file")], ["up/m", null]);
    const sent = new TextDecoder().decode(join(withModel(form.value, "m")));
    assertEquals(sent, FORM.replace("up/m", "m"));
  });
}

Deno.test("a body without a model gets it as its first part", () => {
  const form = parse(`${part("prompt", "x")}--b0--`);
  assert(form.ok);
  const sent = join(withModel(form.value, "m"));
  assertEquals(new TextDecoder().decode(sent), `${part("model", "m")}${part("prompt", "x")}--b0--`);
});

Deno.test("the edited body shares the memory of the received one", () => {
  const bytes = encoder.encode(FORM);
  const form = parse(bytes);
  assert(form.ok);
  const shared = withModel(form.value, "m").filter(({ buffer }) => buffer === bytes.buffer);
  assertEquals(shared.reduce((sum, { length }) => sum + length, 0), bytes.length - "up/m".length);
});

Deno.test("the parser finds the parts that the runtime has written, whatever they hold", async () => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((one) => new Uint8Array(one));
  await fc.assert(
    fc.asyncProperty(
      fc.array(bytes, { maxLength: 5 }),
      fc.integer({ min: 1, max: 64 }),
      async (files, size) => {
        const written = new FormData();
        written.set("model", "up/m");
        for (const [index, file] of files.entries()) {
          written.append(`file${index}`, new Blob([file]), 'ä"b\r\n.bin');
        }
        const request = new Response(written);
        const type = request.headers.get("content-type") ?? "";
        const form = parse(await request.bytes(), type, size);
        assert(form.ok);
        const { pieces, parts } = form.value;
        const all = join(pieces);
        assertEquals(parts.map(({ name }) => name), [
          "model",
          ...files.map((_, at) => `file${at}`),
        ]);
        for (const [index, file] of files.entries()) {
          const place = parts[index + 1];
          assertEquals(all.slice(place?.start, place?.end), file);
        }
        const edited = new Response(join(withModel(form.value, "m")), {
          headers: { "content-type": type },
        });
        const read = await edited.formData();
        assertEquals(read.get("model"), "m");
        for (const [index, file] of files.entries()) {
          const one = read.get(`file${index}`);
          assert(one instanceof File);
          assertEquals(await one.bytes(), file);
        }
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("the verdict on a body and its parts do not depend on where it is cut into pieces", () => {
  const line = fc.constantFrom(
    "\r\n--b0\r\n",
    "\r\n--b0--",
    "--b0",
    "\r\n",
    "\n",
    "\r",
    "-",
    "b0",
    " ",
  );
  const head = fc.constantFrom(
    'Content-Disposition: form-data; name="file"; filename="a"\r\n\r\n',
    'Content-Disposition: form-data; name="model"\r\n\r\nm',
    "\r\n\r\n",
    "x",
  );
  const middle = fc.array(fc.oneof(line, head), { maxLength: 12 }).map((some) => some.join(""));
  const bodies = fc.oneof(
    middle.map((text) => `${part("file", text, '; filename="a"')}--b0--\r\n`),
    middle.map((text) => `${part("prompt", "x")}--b0\r\n${text}--b0--`),
  );
  fc.assert(
    fc.property(bodies, fc.array(fc.nat({ max: 300 }), { maxLength: 6 }), (text, cuts) => {
      const bytes = encoder.encode(text);
      const places = [0, ...cuts.map((at) => at % bytes.length).toSorted((a, b) => a - b)];
      const pieces = places.map((at, index) => bytes.subarray(at, places[index + 1]));
      const whole = parse(bytes);
      const cut = parsePieces(pieces);
      if (!whole.ok) return assertEquals(cut, whole);
      assert(cut.ok);
      assertEquals(cut.value.parts, whole.value.parts);
      assertEquals(join(withModel(cut.value, "up")), join(withModel(whole.value, "up")));
    }),
    { numRuns: 500 },
  );
});

const REFUSED: readonly (readonly [why: string, body: string, message: string, type?: string])[] = [
  ["no boundary", FORM, "must have one boundary", "multipart/form-data"],
  ["two boundaries", FORM, "must have one boundary", `${TYPE}; boundary=b1`],
  [
    "a boundary of 71 characters",
    FORM,
    "1 to 70",
    `multipart/form-data; boundary=${"b".repeat(71)}`,
  ],
  ["a boundary with a line end", FORM, "1 to 70", 'multipart/form-data; boundary="b\r\n0"'],
  ["another content type", FORM, "must be multipart/form-data", "application/json"],
  ["an empty body", "", "no closing boundary"],
  ["a text before the first boundary", `x${FORM}`, "must begin with its boundary"],
  ["no last boundary", FORM.replace("--b0--", ""), "no closing boundary"],
  ["a text behind the last boundary", `${FORM}x`, "behind its last boundary"],
  ["two models", `${part("model", "a")}${FORM}`, "more than one part 'model'"],
  ["two names", part("x", "a", '; name="model"') + "--b0--", "one name"],
  ["an extended name", part("x", "a", "; name*=utf-8''model") + "--b0--", "one name"],
  ["a continued name", part("x", "a", '; name*0="mo"; name*1="del"') + "--b0--", "one name"],
  [
    "a model with a continued file name",
    part("model", "a", '; filename*0="a"') + "--b0--",
    "one name",
  ],
  ["no name", `--b0\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b0--`, "one name"],
  ["no headers", "--b0\r\n\r\nx\r\n--b0--", "one name"],
  [
    "a nested body",
    FORM.replace("\r\n\r\n", "\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n"),
    "multipart body itself",
  ],
  [
    "an encoded part",
    FORM.replace("\r\n\r\n", "\r\nContent-Transfer-Encoding: base64\r\n\r\n"),
    "has an encoding",
  ],
  ["a folded header", FORM.replace("; name", ";\r\n name"), "malformed or repeated"],
  ["a boundary behind a bare LF", FORM.replace("\n--b1", "\n--b0"), "malformed"],
  ["a boundary right behind the headers", FORM.replace("up/m", "--b0"), "malformed"],
  [
    "another text on the line of a boundary",
    FORM.replace("--b1", "--b0x").replace("\n--b0x", "\r\n--b0x"),
    "malformed",
  ],
  [
    "headers of 1 MB",
    FORM.replace("\r\n\r\n", `\r\nX-Long: ${"x".repeat(1_000_000)}\r\n\r\n`),
    "larger than 1000 bytes",
  ],
  [
    "a model that is a file",
    part("model", "m", '; filename="a"') + "--b0--",
    "without a file name",
  ],
  ["a model of 64 KiB", part("model", "m".repeat(65_537)) + "--b0--", "one short line"],
  [
    "a boundary behind the provider of a model",
    part("model", 'up/--b0\r\nContent-Disposition: form-data; name="model"\r\n\r\nm') + "--b0--",
    "malformed",
  ],
  ["a model of two lines", part("model", "a\r\nb") + "--b0--", "one short line"],
  ["a model with its boundary", part("model", "up/--b0") + "--b0--", "malformed"],
  ["a model in another charset", encodedModel("text/plain; charset=utf-16le"), "in UTF-8"],
  [
    "a model in two charsets",
    encodedModel("text/plain; charset=latin1; charset=utf-8"),
    "in UTF-8",
  ],
  ["an encoded charset", encodedModel("text/plain; charset*=us-ascii''utf-7"), "in UTF-8"],
  [
    "a charset of all texts",
    part("_charset_", "utf-8") + part("model", "m") + "--b0--",
    "without a part '_charset_'",
  ],
  [
    "parameters behind an escaped quotation mark",
    part("x", "m", '; filename="a\\"; name=model; b="') + "--b0--",
    "one name",
  ],
  ...[
    'multipart/form-data; boundary="b\\0"',
    'multipart/form-data; boundary="\\b0"',
  ].map((type) => ["an escape in its boundary", FORM, "RFC 2046", type] as const),
  ...["; boundary*=utf-8''b1", "; charset=utf-7", "; x=y", "; charset=utf-8; charset=utf-8"].map((
    more,
  ) => ["another parameter", FORM, "nothing else", TYPE + more] as const),
  ...[
    "mo\\del",
    "mod%22el",
    " model",
    "model ",
    "/model",
    "mod;el",
    "modèl",
    "model\\\\",
    "model\0",
    "",
  ]
    .map((name) =>
      ["a name that parsers read in two ways", `${part(name, "m")}--b0--`, "one name"] as const
    )
    .map(([why, body]) => [why, body, ""] as const),
  ["two names that differ by case", `${part("N", "1")}${part("n", "2")}--b0--`, "only by case"],
  ["a name that is model in another case", `${part("Model", "m")}--b0--`, "only by case"],
  ...["", "a/", "..", "&#47;", "a&sol;", "&nbsp"].map((name) =>
    [
      "a file name that Django omits",
      part("file", "x", `; filename="${name}"`) + "--b0--",
      "every parser",
    ] as const
  ),
  [
    "an encoded file name alone",
    part("file", "x", "; filename*=utf-8''a") + "--b0--",
    "every parser",
  ],
  [
    "a file name that is not encoded",
    part("file", "x", '; filename="a"; filename*=a') + "--b0--",
    "every parser",
  ],
  ["a space before a semicolon", part("file", "x", ' ; filename="a"') + "--b0--", "one name"],
  [
    "a file name with two semicolons",
    part("file", "x", '; filename="a;b;c"') + "--b0--",
    "one name",
  ],
  [
    "a file name that ends in an escaped backslash",
    part("file", "x", '; filename="a\\\\"') + "--b0--",
    "one name",
  ],
  ["a boundary within a line", FORM.replace("--b1", "x--b0"), "malformed"],
  ["a boundary within a header", FORM.replace("\r\n\r\n", "\r\nX-A: --b0\r\n\r\n"), "malformed"],
  ["white space behind a boundary", FORM.replace("--b0\r\n", "--b0 \r\n"), "malformed"],
  ["two line ends before its first boundary", `\r\n\r\n${FORM}`, "must begin with its boundary"],
  ["a bare LF before its first boundary", `\n${FORM}`, "must begin with its boundary"],
  ["a header with a control character", FORM.replace("\r\n\r\n", "\r\nX: \v\r\n\r\n"), "malformed"],
  [
    "nine headers in a part",
    FORM.replace("\r\n\r\n", `${"12345678".replace(/./g, "\r\nX-$&: y")}\r\n\r\n`),
    "more than 8 headers",
  ],
  [
    "a packed part",
    FORM.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n"),
    "has an encoding",
  ],
  [
    "a wrong length of a part",
    FORM.replace("\r\n\r\n", "\r\nContent-Length: 3\r\n\r\n"),
    "not its length",
  ],
  ["a model that is no plain text", encodedModel("application/octet-stream"), "in UTF-8"],
  ["a model with a byte order mark", `${part("model", "\ufeffm")}--b0--`, "in UTF-8"],
  ["a text above 1 MB", `${part("prompt", "x".repeat(1_000_001))}--b0--`, "at most 1 MB"],
  [
    "a text in another charset",
    encodedModel("text/plain; charset=utf-7").replace('"model"', '"prompt"'),
    "in UTF-8",
  ],
  ["two thousand parts", `${part("x", "").repeat(2_000)}--b0--`, "more than 1024 parts"],
];

for (const [index, [why, body, message, type]] of REFUSED.entries()) {
  const number = REFUSED.slice(0, index).filter(([other]) => other === why).length;
  const name = number === 0 ? why : `${why} (${number + 1})`;
  Deno.test(`a multipart body with ${name} is refused as invalid_multipart, at every read size`, () => {
    for (const size of [1, 7, Infinity]) {
      const form = parse(body, type, size);
      assert(!form.ok);
      assertEquals(form.failure.kind, "invalid_multipart");
      assertStringIncludes(messageOf(form.failure), message);
    }
  });
}

Deno.test("a model in UTF-8 is read, however its charset is written", () => {
  for (
    const type of [
      "text/plain",
      'text/plain; charset="UTF-8"; format=flowed',
      "text/plain;charset=us-ascii",
      "text/plain; charset=ISO-8859-1",
    ]
  ) {
    const form = parse(encodedModel(type));
    assert(form.ok, type);
    assertEquals(formText(form.value, "model"), "m");
  }
  assert(!parse(encodedModel("text/plain; charset=ISO-8859-1").replace("m\r", "mé\r")).ok);
});

Deno.test("a head or a text that is no UTF-8 is refused", () => {
  for (const text of [part("file", "x", '; filename="m?ller.wav"'), part("prompt", "?")]) {
    const [head = "", rest = ""] = text.split("?");
    const bytes = [...encoder.encode(head), 0xfc, ...encoder.encode(`${rest}--b0--`)];
    const form = parse(new Uint8Array(bytes));
    assert(!form.ok && form.failure.kind === "invalid_multipart");
  }
});

Deno.test("a CRLF before the first boundary is accepted, and is no part of a model that is put first", () => {
  for (const size of [1, 7, Infinity]) {
    const form = parse(`\r\n${part("prompt", "x")}--b0--`, TYPE, size);
    assert(form.ok);
    assertEquals(formText(form.value, "prompt"), "x");
    const sent = new TextDecoder().decode(join(withModel(form.value, "m")));
    assertEquals(sent, `${part("model", "m")}${part("prompt", "x")}--b0--`);
  }
});

Deno.test("names and file names with escapes that every parser reads alike are accepted", () => {
  const texts = [
    part('a\\"b', "x"),
    part("a\\\\b", "x"),
    part("file", "x", '; filename="a\\"b.wav"'),
    part("file", "x", "; filename=\"ü;.wav\"; filename*=utf-8''%C3%BC.wav"),
    part("file", "x", '; filename="R&D%22.wav"'),
    part("file", "x", '; filename="a"\r\nContent-Length: 1'),
  ];
  const forms = texts.map((text) => parse(`${text}--b0--`));
  const names = forms.map((form) => form.ok && form.value.parts.map(({ name }) => name).join());
  assertEquals(names, ['a"b', "a\\b", "file", "file", "file", "file"]);
});

Deno.test("a provider gets a content type of the gateway's own, with the boundary in quotes where it must be", () => {
  const types = [
    ["b0", "multipart/form-data; boundary=b0"],
    ['"b0"; charset=UTF-8', "multipart/form-data; boundary=b0"],
    ["a=b", 'multipart/form-data; boundary="a=b"'],
    ['"a b"', 'multipart/form-data; boundary="a b"'],
  ] as const;
  for (const [written, own] of types) {
    const boundary = written.replace(/;.*/, "").replaceAll('"', "");
    const form = parse(
      FORM.replaceAll("--b0", `--${boundary}`),
      `Multipart/Form-Data;boundary=${written}`,
    );
    assert(form.ok);
    assertEquals(form.value.contentType, own);
  }
});

Deno.test("a model that is no UTF-8 is refused", () => {
  const [head = "", rest = ""] = part("model", "?").split("?");
  const bytes = [...encoder.encode(head), 0xff, ...encoder.encode(`${rest}--b0--`)];
  const form = parse(new Uint8Array(bytes));
  assert(!form.ok && form.failure.kind === "invalid_multipart");
});
