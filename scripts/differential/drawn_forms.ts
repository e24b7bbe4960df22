import fc from "fast-check";

/** A multipart request as a client could send it, well formed or hostile. */
export interface DrawnForm {
  readonly contentType: string;
  readonly body: Uint8Array<ArrayBuffer>;
  /** True if the gateway sends another model than the client's. */
  readonly isRenamed: boolean;
}

/** Draws what clients send nine times in ten, else something hostile. */
function mostly<Value>(
  usual: fc.Arbitrary<Value>,
  ...hostile: readonly fc.Arbitrary<Value>[]
): fc.Arbitrary<Value> {
  return fc.oneof(
    { weight: 9 * hostile.length, arbitrary: usual },
    ...hostile.map((arbitrary) => ({ weight: 1, arbitrary })),
  );
}

/** Draws one of these texts. */
function one(...texts: readonly string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...texts);
}

/** Texts of the characters that parsers treat in their own ways. */
const oddText = fc.string({
  unit: one(
    ..."model\"\\;=' \t*%/<>()[]{}:,&#-_.?@\0\r\n\v\f\x7f\x1cMODEL02é\u0085\u00a0\u2028ﬁ𝄞\ufeff",
  ),
  maxLength: 12,
});

const boundaries = mostly(
  one("b0", "----WebKitFormBoundary7MA4YWxkTrZu0gW", "----formdata-undici-012345678901"),
  one("----=_Part_1_2.3", "===============12==", "a b:c", "-", "--", "---", "'()+_,./:=?", "b b"),
  fc.string({ unit: one(..."abAB09-'()+_,./:=?"), minLength: 1, maxLength: 70 }),
);

/** A boundary, and the content type with it. */
interface Declared {
  readonly boundary: string;
  readonly contentType: string;
}

const declared: fc.Arbitrary<Declared> = boundaries.chain((boundary) => {
  const quoted = `"${boundary}"`;
  const plain = /^[\w-]+$/.test(boundary) ? boundary : quoted;
  const written = mostly(
    one(plain, quoted),
    one(boundary, `"\\${boundary}"`, `'${boundary}'`, `${boundary}x`, `"${boundary} "`),
  );
  const more = mostly(
    one(""),
    one("; charset=utf-8", '; charset="UTF-8"', "; charset=us-ascii", ";charset=utf8"),
    one("; charset=utf-7", "; charset=utf-16le", "; charset*=utf-8''utf-7", "; x=y", ";", "; "),
    one(
      "; boundary=b1",
      "; Boundary=b1",
      "; boundary*=utf-8''b1",
      "; boundary*0=b1",
      "; b1",
      ", x",
    ),
  );
  return fc.record({
    type: mostly(one("multipart/form-data"), one("Multipart/Form-Data", "multipart/mixed")),
    equals: mostly(
      one("; boundary="),
      one(";boundary=", "; BOUNDARY=", " ;\tboundary=", "; boundary ="),
    ),
    written,
    before: mostly(one(""), more),
    after: more,
  }).map(({ type, equals, written, before, after }) => ({
    boundary,
    contentType: `${type}${before}${equals}${written}${after}`,
  }));
});

const names = mostly(
  one("file", "image[]", "n", "stream", "prompt", "timestamp_granularities[]", "language"),
  one(
    "MODEL",
    "Model",
    "mode",
    "mo\\del",
    'mo\\"del',
    "model\\\\",
    "mod%22el",
    "m%6fdel",
    " model",
  ),
  one("model ", "model\t", "modèl", "", "a;b", "a=b", "<model>", "model*", "model\0", "mod\nel"),
  one(
    "=?utf-8?q?model?=",
    "m&#111;del",
    "model%00",
    "\ufeffmodel",
    "'model'",
    "model[]",
    "_charset_",
  ),
  oddText,
);

const fileNames = mostly(
  one("a.wav", "speech file.mp3", "ü.png", "blob", "a;b=c.txt"),
  one(
    'a\\"b.wav',
    "C:\\dir\\a.wav",
    "a/",
    "..",
    "",
    "&#47;",
    "a&sol;",
    "&nbsp",
    "a\\\\",
    'a\\\\\\"',
  ),
  one("%22", "a%0d%0ab", '\\"; name=model; x=\\"', "𝄞", "=?utf-8?B?YQ==?=", "日本.wav", "a,b"),
  oddText,
);

/** Parameters of a disposition besides its plain name. */
const extraParameters = mostly(
  one(""),
  one("; name=model", '; name="model"', "; NAME=model", "; name*=utf-8''model", "; name*0=model"),
  one('; name*0="mo"; name*1="del"', "; name =model", ";", "; ", "; x", "; x=y", '; x="y;z"', ";;"),
  one(
    "; filename*=utf-8''a",
    "; filename*0=a",
    "; filename*0*=utf-8''a",
    "; filename*=a",
    "; filename",
  ),
  oddText.map((text) => `; ${text}`),
);

/** Returns the dispositions of a part with this name. */
function dispositions(name: string): fc.Arbitrary<string> {
  return fc.record({
    type: mostly(
      one("Content-Disposition: form-data"),
      one(
        "content-disposition:form-data",
        "CONTENT-DISPOSITION:\t form-data",
        "Content-Disposition: FORM-DATA",
      ),
      one(
        "Content-Disposition : form-data",
        "Content-Disposition: attachment",
        "Content-Disposition:",
      ),
      one(
        "Content-Disposition: form-data;",
        "Content-Disposition: form-data\t",
        "Content-Disposition:\u00a0form-data",
      ),
    ),
    gap: mostly(one("; "), one(";", ";\t", " ; ", ";\r\n ", ";\u00a0", ";;")),
    named: mostly(
      one(`name="${name}"`),
      one(
        `name=${name}`,
        `NAME="${name}"`,
        `name = "${name}"`,
        `name='${name}'`,
        `name=""${name}"`,
      ),
      one(
        `name*=utf-8''${name}`,
        `name*="${name}"`,
        `name="${name}`,
        `name="${name}"x`,
        `name=${name}"`,
      ),
    ),
    file: fc.option(
      fc.record({
        name: fileNames,
        equals: mostly(one('filename="'), one('FileName="', 'filename ="', "filename=")),
        end: mostly(one('"'), one("", '" ')),
      }),
    ),
    extra: extraParameters,
    isFileFirst: mostly(fc.constant(false), fc.constant(true)),
  }).map(({ type, gap, named, file, extra, isFileFirst }) => {
    const filed = file === null ? "" : `${file.equals}${file.name}${file.end}`;
    const both = isFileFirst ? [filed, named] : [named, filed];
    return `${type}${gap}${both.filter((text) => text !== "").join(gap)}${extra}`;
  });
}

const moreHeaders = mostly(
  one(""),
  one(
    "Content-Type: text/plain",
    "Content-Type: application/octet-stream",
    "Content-Type: audio/wav",
  ),
  one("Content-Type: text/plain; charset=utf-8", "Content-Type: text/plain; charset=utf-16le"),
  one("Content-Type: text/plain; charset=utf-7", "Content-Type: multipart/mixed; boundary=b1"),
  one(
    "Content-Type: application/json",
    "Content-Type: text/html",
    "Content-Type: text/plain; charset*=x",
  ),
  one("Content-Transfer-Encoding: base64", "Content-Transfer-Encoding: quoted-printable"),
  one(
    "Content-Transfer-Encoding: binary",
    "Content-Transfer-Encoding: 8BIT",
    "Content-Transfer-Encoding: x",
  ),
  one("Content-Length: 1", "Content-Length: 5", "Content-Length: -1", "Content-Length: 0x5"),
  one("Content-Encoding: gzip", "Content-Encoding: deflate", "Content-Encoding: identity"),
  one('Content-Disposition: form-data; name="model"', "content-disposition: x", "X-A: b\r\nx-a: c"),
  one(
    " folded",
    "\tfolded: x",
    "no colon",
    ": x",
    "X-Nul: a\0b",
    "X-Vt: a\vb",
    "X-Cr: a\rb",
    "X: a\nb",
  ),
  fc.integer({ min: 1, max: 12 }).map((count) =>
    Array.from({ length: count }, (_, at) => `X-${at}: ${"y".repeat(at * 20)}`).join("\r\n")
  ),
  oddText.map((text) => `X-Odd: ${text}`),
);

/** Contents that parsers could cut in other places. */
function lookalikes(boundary: string): fc.Arbitrary<string> {
  const nested = 'Content-Disposition: form-data; name="model"\r\n\r\nhidden\r\n';
  return one(
    `--${boundary}`,
    `x--${boundary}--`,
    `\r\n--${boundary}x\r\n${nested}`,
    `\n--${boundary}\n${nested}`,
    `\r--${boundary}\r${nested}`,
    `\r\n --${boundary}\r\n${nested}`,
    `\r\n--${boundary} \r\n${nested}`,
    `\r\n--${boundary}\t--\r\n`,
    `\r\n-${boundary}\r\n`,
    `\r\n--${boundary.slice(0, -1)}\r\n`,
    `\r\n--${boundary.toUpperCase()}\r\n${nested}`,
    `\r\n--${boundary}\r\n${nested}`,
    `--b1\r\n${nested}\r\n--b1--`,
  );
}

function parts(boundary: string): fc.Arbitrary<string> {
  const contents = (usual: fc.Arbitrary<string>) =>
    mostly(
      usual,
      lookalikes(boundary),
      one("", "\r\n", "\n", "\r", "--", "bW9kZWw=", "=6d"),
      oddText,
    );
  const part = (name: fc.Arbitrary<string>, content: fc.Arbitrary<string>) =>
    fc.record({
      before: mostly(
        one(`--${boundary}\r\n`),
        one(`--${boundary} \r\n`, `--${boundary}\n`, `--${boundary}\t\r\n`),
      ),
      disposition: name.chain(dispositions),
      more: moreHeaders,
      isMoreFirst: mostly(fc.constant(false), fc.constant(true)),
      blank: mostly(one("\r\n\r\n"), one("\n\n", "\r\n", "\n\r\n", "\r\n\r\n\r\n", "\r\n \r\n")),
      content: contents(content),
      after: mostly(one("\r\n"), one("\n", "\r", "", "\r\n\r\n")),
    }).map(({ before, disposition, more, isMoreFirst, blank, content, after }) => {
      const lines = isMoreFirst ? [more, disposition] : [disposition, more];
      const head = lines.filter((line) => line !== "").join("\r\n");
      return `${before}${head}${blank}${content}${after}`;
    });
  const models = mostly(
    one("gpt-4o", "openai/whisper-1", "a b"),
    one("modèl", " m ", "m\0", "\ufeffm", "m\r\nn", "m\tn", ""),
  );
  const model = mostly(one("model"), names);
  return fc.tuple(
    fc.array(part(names, one("text", "RIFF\0\x01\n-\r--x", "{}\r\n{}\r\n", "1")), { maxLength: 3 }),
    fc.array(part(model, models), { minLength: 0, maxLength: 1 }),
    mostly<readonly string[]>(
      fc.constant([]),
      fc.array(part(one("model", "Model"), models), { maxLength: 2 }),
    ),
    fc.boolean(),
  ).map(([others, model, again, isModelFirst]) =>
    (isModelFirst ? [...model, ...others, ...again] : [...others, ...model, ...again]).join("")
  );
}

/** Pieces that are put into a body somewhere, or that take the place of some of its bytes. */
const SPLICES = [
  "",
  "\0",
  "\r",
  "\n",
  "\r\n",
  "\r\n\r\n",
  '"',
  "\\",
  ";",
  "=",
  "--",
  " ",
  "\t",
  "%22",
];

/** A piece that is put into a body in place of some of its characters. */
interface Mutation {
  readonly at: number;
  readonly removed: number;
  readonly put: string;
}

const mutations = mostly<readonly Mutation[]>(
  fc.constant([]),
  fc.array(
    fc.record({
      at: fc.nat({ max: 2_000 }),
      removed: fc.nat({ max: 3 }),
      put: fc.oneof(one(...SPLICES), oddText),
    }),
    { minLength: 1, maxLength: 2 },
  ),
);

/** Draws multipart requests of which most are well formed but for one or two hostile places. */
export const drawnForms: fc.Arbitrary<DrawnForm> = declared.chain(({ boundary, contentType }) =>
  fc.record({
    before: mostly(one(""), one("\r\n", "\n", "\r\n\r\n", "preamble\r\n", " ", "\0", "--\r\n")),
    parts: parts(boundary),
    last: mostly(
      one(`--${boundary}--\r\n`, `--${boundary}--`),
      one(`--${boundary}-- \r\n`, `--${boundary}--\n`, `--${boundary}\r\n`, `--${boundary}-`, ""),
    ),
    after: mostly(
      one(""),
      one("\r\n", "\r\n\r\n", " ", "epilogue", `--${boundary}\r\n`, "\0", "\n"),
    ),
    mutations,
    isLatin1: mostly(fc.constant(false), fc.constant(true)),
    isRenamed: fc.boolean(),
  }).map(({ before, parts, last, after, mutations, isLatin1, isRenamed }) => {
    let text = `${before}${parts}${last}${after}`;
    for (const { at, removed, put } of mutations) {
      const place = at % (text.length + 1);
      text = text.slice(0, place) + put + text.slice(place + removed);
    }
    const body = isLatin1
      ? Uint8Array.from(text, (character) => (character.codePointAt(0) ?? 0) & 0xff)
      : new TextEncoder().encode(text);
    return { contentType, body, isRenamed };
  })
);
