/** Strings that often break software, by kind. The service has to send each of them back unchanged. */

const control = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('')

export const strings: Record<string, readonly string[]> = {
  'keywords of programming languages': [
    ...['undefined', 'null', 'NULL', 'nil', 'None', 'NaN', 'Infinity', 'true', 'False'],
    ...['[object Object]', 'constructor', '__proto__', 'hasOwnProperty', 'toJSON', 'then'],
  ],
  space: ['', ' ', '\t', '\r\n', '\u00a0', '\u1680', '\u2003', '\u3000', '\u200b', '\ufeff', ' a '],
  'control characters': [control, '\u007f', '\u0080\u009f', '\u0000', 'a\u0000b', '\u001b[31mred'],
  'invisible characters': [
    '\u00ad',
    '\u2060\u2061',
    '\u202eabc\u202c',
    '\u{e0001}\u{e007f}',
    '\ufe0f',
  ],
  'combining characters': [
    ...['e\u0301', 'é', `a${'\u0300\u0316\u0489'.repeat(40)}`, '각', '\u1100\u1161\u11a8', 'ﷺ'],
    ...['नमस्ते'],
  ],
  'emoji of several characters': ['👩‍👩‍👧‍👦', '🏳️‍🌈', '👍🏽', '🇪🇺', '1️⃣', '🦄'.repeat(100)],
  'letters whose length depends on their case': ['ß', 'İ', 'ı', 'ﬃ', 'ŉ', 'Σσς', 'Ⱥ'],
  'noncharacters of Unicode': ['\uffff', '\ufffe', '\ufdd0', '\u{10ffff}', '\ufffd'],
  quotes: ['"', "'", '`', '\\', '\\"', '\\\\"', '\'"`\\', '“”‘’«»', '""', "''"],
  'the syntax of JSON': ['{}', '[]', '{"id":"x"}', '","id":"x', '}]}', '\\u0041', '\\', ',', ':'],
  'the syntax of HTTP': [
    ...['\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', '0\r\n\r\n'],
    ...['X-Session-Id: a', '%0d%0a', '%00', '%'],
  ],
  'long strings': ['x'.repeat(65_535), 'é'.repeat(32_768), '🦄'.repeat(16_384)],
}
